// Which writes need no note because their bytes are noted, or fresh, on every path to them.
//
// A forward data-flow over the function. Facts are "bytes [Lo, Hi) from base B are noted" and "the
// block that this call allocated in a pool is fresh". A write makes the first kind (when it has
// been executed its bytes are noted, by whichever note), an allocation the second. All facts end at
// an instruction that may commit; the facts about a base end when the base is computed anew, as in
// the next iteration of a loop. A write is covered when the facts that hold on every path to it
// contain each of its bytes: by induction over the execution, the first of several writes has its
// own note.
#pragma once

#include "Access.h"
#include "Commits.h"

namespace nvmove::plugin {

enum class Coverage { None, Noted, Fresh };

/// The coverage of each of \p Writes, which are in the order of their instructions.
llvm::SmallVector<Coverage> findCoverage(llvm::Function &F, llvm::ArrayRef<Access> Writes,
                                         const Commits &MayCommit);

} // namespace nvmove::plugin
