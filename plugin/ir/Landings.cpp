// longjmp and exceptions: see Landings.h. DRAM cannot be rolled back, so leaving an atomic function
// this way commits, as returning does, unless the thread ends.
#include "ir/Landings.h"

#include "emit/Abi.h"
#include "ir/Access.h"
#include "ir/Exits.h"
#include "ir/Notes.h"

#include "llvm/Analysis/ValueTracking.h"
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

/// The buffer of a handler of pthread_cleanup_push: who jumps to it is the end of the thread.
static bool isOfCleanup(const CallInst &Setjmp) {
  const Value *Buffer = getUnderlyingObject(Setjmp.getArgOperand(0));
  for (const Instruction &I : instructions(*Setjmp.getFunction())) {
    const auto *Call = dyn_cast<CallInst>(&I);
    const Function *Callee = Call ? namedCallee(*Call) : nullptr;
    if (Callee && Callee->getName().starts_with("__pthread_register_cancel") &&
        Call->arg_size() == 1 && getUnderlyingObject(Call->getArgOperand(0)) == Buffer)
      return true;
  }
  return false;
}

/// What such a call may write is noted anew as long as it runs: it ends here, whoever catches what it throws.
static void stopAtNotedCalls(Function &F) {
  SmallVector<CallInst *> Calls;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallInst>(&I); Call && Call->hasMetadata(NotedCallMark) &&
                                             !Call->doesNotThrow() && !Call->isMustTailCall())
      Calls.push_back(Call);
  stopExceptions(F, Calls);
}

bool placeLandings(Function &F) {
  stopAtNotedCalls(F);
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
    callAbi(At, isOfCleanup(*Jump) ? "__nvm_atomic_unwound" : "__nvm_atomic_landed",
            {frameAddress(At)});
  }
  for (LandingPadInst *Pad : Pads) {
    IRBuilder<> At(&*Pad->getParent()->getFirstInsertionPt());
    callAbi(At, "__nvm_atomic_thrown", {frameAddress(At), At.CreateExtractValue(Pad, 0)});
  }
  return !Jumps.empty() || !Pads.empty();
}

} // namespace nvmove::plugin
