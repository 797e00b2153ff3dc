// Which instructions may end a transaction or release a lock: see Commits.h.
#include "ir/Commits.h"

#include "emit/Abi.h"
#include "ir/Access.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace nvmove::plugin {

Commits::Commits(Module &M, const UnsafeTable &Unsafe) : Unsafe(Unsafe) {
  // Every body is quiet until a call in it is found that is not: the greatest fixed point, so that
  // recursive functions can be quiet.
  for (Function &F : M)
    if (F.hasExactDefinition())
      Quiet.insert(&F);
  for (bool Changed = true; Changed;) {
    Changed = false;
    for (Function &F : M)
      if (Quiet.contains(&F) &&
          any_of(instructions(F), [this](const Instruction &I) { return mayCommit(I); }))
        Changed |= Quiet.erase(&F);
  }
}

bool Commits::mayCommit(const Instruction &I) const {
  // That one returns a second time, whatever was done meanwhile.
  if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
    return Intrinsic->getIntrinsicID() == Intrinsic::eh_sjlj_setjmp;
  auto *Call = dyn_cast<CallBase>(&I);
  return Call && calleeMayCommit(*Call);
}

bool Commits::calleeMayCommit(const CallBase &Call) const {
  if (Call.isInlineAsm())
    return !Call.onlyReadsMemory() && !Call.onlyAccessesArgMemory();
  const Function *Callee = namedCallee(Call);
  if (!Callee)
    return true;
  if (!Callee->isDeclaration())
    return !Quiet.contains(Callee);
  const UnsafeFunction *Known = Unsafe.find(*Callee);
  return !Known || !Known->Keeps;
}

} // namespace nvmove::plugin
