// longjmp and exceptions: see Landings.h. DRAM cannot be rolled back, so leaving an atomic function
// this way commits, as returning does.
#include "Landings.h"

#include "Abi.h"
#include "Access.h"
#include "Notes.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;

namespace nvmove::plugin {

bool isSetjmp(const CallInst &Call) {
  const Function *Callee = namedCallee(Call);
  if (Callee && Callee->getIntrinsicID() == Intrinsic::eh_sjlj_setjmp)
    return true;
  return Call.canReturnTwice() && Callee && Callee->getName().contains("setjmp") &&
         Call.getType()->isIntegerTy();
}

bool placeLandings(Function &F) {
  SmallVector<CallInst *> Jumps;
  SmallVector<LandingPadInst *> Pads;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I); Call && isSetjmp(*Call))
      Jumps.push_back(Call);
    else if (auto *Pad = dyn_cast<LandingPadInst>(&I))
      Pads.push_back(Pad);
  for (CallInst *Jump : Jumps) {
    Instruction *Next = Jump->getNextNode();
    IRBuilder<> At(Next);
    Value *Landed = At.CreateIsNotNull(Jump);
    At.SetInsertPoint(unlikelyBlock(Landed, Next));
    callAbi(At, "__nvm_atomic_landed", {frameAddress(At)});
  }
  for (LandingPadInst *Pad : Pads) {
    IRBuilder<> At(&*Pad->getParent()->getFirstInsertionPt());
    callAbi(At, "__nvm_atomic_landed", {frameAddress(At)});
  }
  return !Jumps.empty() || !Pads.empty();
}

} // namespace nvmove::plugin
