// Which instructions may end the open transaction, or hand its bytes on.
//
// After a commit what was noted before is noted no longer; after a lock was released, neither: what
// commits are the bytes as they were at the release, and later stores are news again
// (docs/reference/semantics.md, "Locks released inside a transaction"). So every fact of the kind
// "these bytes are noted" ends there. Any call may do either unless it is known not to: an .unsafe
// file says that the function `keeps` them, or its body is here and holds no call that may. What a
// declaration promises (pure, const) is not enough: such a function may lock a cache.
#pragma once

#include "base/UnsafeFile.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace nvmove::plugin {

class Commits {
public:
  /// Looks at the bodies as they are, with the attributes that the optimizer inferred for them.
  Commits(llvm::Module &M, const UnsafeTable &Unsafe);

  bool mayCommit(const llvm::Instruction &I) const;

private:
  bool calleeMayCommit(const llvm::CallBase &Call) const;

  const UnsafeTable &Unsafe;
  llvm::SmallPtrSet<const llvm::Function *, 32> Quiet; ///< bodies here that commit nothing
};

} // namespace nvmove::plugin
