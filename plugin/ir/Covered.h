// Which writes need no note because their bytes are noted on every path to them.
//
// A forward data-flow over the function. A fact is "bytes [Lo, Hi) from base B are noted"; a write
// makes it: when it has been executed its bytes are noted, by whichever note. All facts end at an
// instruction that may commit; the facts about a base end when the base is computed anew, as in the
// next iteration of a loop. A write is covered when the facts that hold on every path to it contain
// each of its bytes: by induction over the execution, the first of several writes has its own note.
//
// Loads that are announced (loads/LoadNotes.h) are looked at in the same way.
//
// A block that nvm_alloc just returned is no exception. Nothing of it has to be undone, which the
// runtime knows, but a commit makes durable what was noted and nothing else.
#pragma once

#include "ir/Access.h"
#include "ir/Commits.h"

#include "llvm/ADT/BitVector.h"

namespace nvmove::plugin {

/// Of \p Writes, which are in the order of their instructions, those that are covered.
llvm::BitVector findCovered(llvm::Function &F, llvm::ArrayRef<Access> Writes,
                            const Commits &MayCommit);

} // namespace nvmove::plugin
