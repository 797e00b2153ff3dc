// Checks behind pointer stores: see Checked.h.
#include "Checked.h"

#include "Abi.h"
#include "Notes.h"
#include "Sites.h"

using namespace llvm;

namespace nvmove::plugin {

void checkStoredPointers(Function &F, ArrayRef<Access> Writes) {
  for (const Access &W : Writes) {
    auto *Store = dyn_cast<StoreInst>(W.At);
    if (!Store || !Store->getValueOperand()->getType()->isPointerTy() ||
        isa<ConstantPointerNull>(Store->getValueOperand()))
      continue;
    Instruction *Next = Store->getNextNode();
    IRBuilder<> At(Next);
    At.SetCurrentDebugLocation(Store->getDebugLoc());
    Value *Persistent = inRange(At, W.Address);
    At.SetInsertPoint(unlikelyBlock(Persistent, Next));
    At.SetCurrentDebugLocation(Store->getDebugLoc());
    callAbi(At, "__nvm_check_pointer", {W.Address, Store->getValueOperand(), makeSite(At, *Store)});
  }
}

} // namespace nvmove::plugin
