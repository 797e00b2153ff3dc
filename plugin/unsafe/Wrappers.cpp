// Wrappers that note, for addresses: see Wrappers.h.
#include "unsafe/Wrappers.h"

#include "base/Frontend.h"
#include "ir/Landings.h"
#include "unsafe/UnsafeCalls.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

Function *makeWrapper(Function &Unsafe, const UnsafeFunction &Known, Report &Warnings) {
  Module &M = *Unsafe.getParent();
  std::string Name = ("__nvmove_safe_" + Unsafe.getName().ltrim('\1')).str();
  if (Function *Made = M.getFunction(Name))
    return Made;
  Function *Wrapper = Function::createWithDefaultAttr(Unsafe.getFunctionType(),
                                                      GlobalValue::LinkOnceODRLinkage, 0, Name, &M);
  // Not hidden: the same address in every library, as with the function itself.
  Wrapper->setComdat(M.getOrInsertComdat(Name));
  Wrapper->setCallingConv(Unsafe.getCallingConv());
  Wrapper->addFnAttr(Attribute::NoInline);
  IRBuilder<> At(BasicBlock::Create(M.getContext(), "", Wrapper));
  UnsafeCall Call;
  Call.IsWrapper = true;
  for (Argument &A : Wrapper->args())
    Call.Arguments.push_back(&A);
  CallInst *Real = At.CreateCall(&Unsafe, Call.Arguments);
  Real->setCallingConv(Unsafe.getCallingConv());
  if (Real->getType()->isVoidTy())
    At.CreateRetVoid();
  else
    At.CreateRet(Real);
  Call.Before = Real;
  noteBefore(Call, Known, [](const Value *) { return true; }, Warnings);
  if (frontendFacts().Throws)
    placeLandings(*Wrapper);
  else
    Wrapper->setDoesNotThrow();
  return Wrapper;
}

} // namespace

bool wrapTakenAddresses(Module &M, const UnsafeTable &Unsafe, Report &Warnings) {
  SmallVector<std::pair<Function *, const UnsafeFunction *>> Taken;
  for (Function &F : M)
    if (const UnsafeFunction *Known = Unsafe.find(F))
      if (!Known->Writes.empty() && F.hasAddressTaken())
        Taken.emplace_back(&F, Known);
  for (auto [F, Known] : Taken) {
    if (F->isVarArg()) {
      if (all_of(Known->Writes,
                 [](const UnsafeRange &R) { return R.What == UnsafeRange::Percent; }))
        continue; // fprintf: only a %n stores
      Warnings.warnOfTaken(*F, "the address of '" + F->getName() +
                                   "', which writes memory and takes variable arguments, is taken: "
                                   "calls through it are not logged");
      continue;
    }
    if (any_of(Known->Writes, [](const UnsafeRange &R) { return R.What == UnsafeRange::Later; }))
      Warnings.warnOfTaken(*F, "the address of '" + F->getName() +
                                   "' is taken, which lets the library write later: nothing logs "
                                   "that where it is persistent memory");
    Function *Wrapper = makeWrapper(*F, *Known, Warnings);
    F->replaceUsesWithIf(Wrapper, [](Use &U) {
      auto *Call = dyn_cast<CallBase>(U.getUser());
      return !(Call && Call->isCallee(&U)) && !isa<GlobalAlias>(U.getUser());
    });
  }
  return !Taken.empty();
}

} // namespace nvmove::plugin
