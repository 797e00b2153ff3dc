// Which instructions may end the open transaction.
//
// After a commit what was noted before is noted no longer, so every fact of the kind "these bytes
// are noted" ends there. Any call may commit unless shown otherwise: the callee writes at most
// through its arguments, an .unsafe file describes it (the C library does not commit, unless it
// calls back into the program), or its body is here and holds no call that may.
#pragma once

#include "UnsafeFile.h"

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
