// What a port file lacks, for review tools: SARIF 2.1.0 (OASIS).
#pragma once

#include "plan/Plan.h"

#include "llvm/Support/raw_ostream.h"

namespace nvmove::plan {

/// One run with a rule for each kind of finding. \p Whole: all sources were analysed to the end.
void writeSarif(const Plan &P, llvm::StringRef Version, bool Whole, llvm::raw_ostream &OS);

} // namespace nvmove::plan
