// One note before a loop instead of one for each iteration (Breeze, Fig. 8).
//
// Only over bytes that the loop surely writes, because logging more than is written would take back
// what another thread wrote beside it: the loop is left at one place only, after a number of
// iterations that is known on entry; each iteration executes the write; nothing in it may commit,
// end the program or wait for another thread; and the writes of consecutive iterations touch.
// Several writes that tile the step together (a loop that was unrolled or vectorised) count as one.
//
// The same holds for loads that are announced (loads/LoadNotes.h): "write" is "load" there.
#pragma once

#include "ir/Access.h"
#include "ir/Commits.h"
#include "ir/Notes.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Dominators.h"

namespace nvmove::plugin {

struct LoopAnalyses {
  llvm::LoopInfo &Loops;
  llvm::ScalarEvolution &Evolution;
  llvm::DominatorTree &Dominators;
};

/// Takes those of \p Writes that \p Pending has set and that a note before their loop serves:
/// clears their bits and gives the notes, whose addresses and lengths are computed in the
/// preheaders.
llvm::SmallVector<Note> coalesceLoops(llvm::Function &F, llvm::ArrayRef<Access> Writes,
                                      llvm::BitVector &Pending, const Commits &MayCommit,
                                      const LoopAnalyses &Analyses);

} // namespace nvmove::plugin
