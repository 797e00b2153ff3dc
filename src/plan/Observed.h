// What an observed run adds to a plan, and corrects in it.
//
// The source says where an allocation may go; a run says where it went (observe/Fates.h). Scopes come
// from the chains of calls that were observed; those of the source stay for functions that the run
// never called. A variable that led to the data is a root. Where the analysis of the source was not
// ended, its own roots and scopes are left out.
#pragma once

#include "observe/Fates.h"
#include "plan/Moved.h"
#include "plan/Names.h"
#include "plan/Plan.h"

namespace nvmove::plan {

/// Fails if sources have changed since the run.
llvm::Error refuseOtherSources(const observe::Observation &Seen);

/// \p Load: as for the plan. Fails if sources have changed since the run.
llvm::Error addObserved(const Program &P, const Everything &All, const Moved &What,
                        const observe::Observation &Seen, const std::vector<std::string> &Load,
                        Plan &Into);

} // namespace nvmove::plan
