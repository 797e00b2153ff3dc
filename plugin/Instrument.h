// Instruments one function: decides for each write whether it needs a note, then places the notes.
#pragma once

#include "base/Report.h"
#include "ir/Commits.h"
#include "ir/LoopNotes.h"
#include "loads/LoadNotes.h"
#include "loads/Redirect.h"

#include "llvm/Analysis/BlockFrequencyInfo.h"
#include "llvm/Analysis/TargetLibraryInfo.h"

namespace nvmove::plugin {

struct FunctionAnalyses {
  const llvm::TargetLibraryInfo &Library;
  LoopAnalyses Loops;
  llvm::OptimizationRemarkEmitter &Remarks;
  llvm::function_ref<llvm::BlockFrequencyInfo &()> Frequency; ///< asked where there are notes
};

/// What was done besides notes.
struct LoadsMade {
  LoadCounts Announced;
  RedirectCounts Redirected;
};

/// True when \p F changed. The analyses hold until the first note is placed.
bool instrumentFunction(llvm::Function &F, const UnsafeTable &Unsafe, const Commits &MayCommit,
                        const FunctionAnalyses &Analyses, LoadsMade &Loads, Report &R);

} // namespace nvmove::plugin
