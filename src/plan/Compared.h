// What an observed run says of the types that a scan has proved.
//
// The scan knows types by the calls that allocate them, the run knows chains of calls; the analysis of the
// whole program says which objects a chain has made (Chains.h), and so of which types they were.
#pragma once

#include "plan/Planner.h"

namespace nvmove::plan {

/// Fills PersistentType::Run of what a scan of the same units with the same functions has found, changes the confidence by it,
/// and adds the types that only the run shows. \p O.Seen: the run. Fails if it is of other sources, or if the
/// units have no main.
llvm::Error compareWithRun(std::vector<facts::TranslationUnit> Units, const Options &O,
                           ScanResult &Into);

} // namespace nvmove::plan
