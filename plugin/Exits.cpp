// Returns and exceptions: see Exits.h.
#include "Exits.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// C's for `cleanup`, in libgcc. A function of C++ has that of C++, for a function with another is not inlined.
Constant *personalityFor(Function &F) {
  Module &M = *F.getParent();
  if (Function *OfCxx = M.getFunction("__gxx_personality_v0"))
    return OfCxx;
  FunctionType *Type = FunctionType::get(llvm::Type::getInt32Ty(F.getContext()), true);
  return cast<Constant>(M.getOrInsertFunction("__gcc_personality_v0", Type).getCallee());
}

/// An exception that no handler here takes passes this function all the same.
void stopEachException(Function &F) {
  for (Instruction &I : instructions(F))
    if (auto *Pad = dyn_cast<LandingPadInst>(&I))
      Pad->setCleanup(true);
}

} // namespace

IRBuilder<> atEntry(Function &F) {
  return IRBuilder<>(&*F.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
}

void beforeReturns(Function &F, StringRef What, function_ref<void(IRBuilder<> &)> Place) {
  SmallVector<ReturnInst *> Returns;
  for (Instruction &I : instructions(F))
    if (auto *Return = dyn_cast<ReturnInst>(&I))
      Returns.push_back(Return);
  for (ReturnInst *Return : Returns) {
    if (CallInst *Tail = Return->getParent()->getTerminatingMustTailCall()) {
      std::string Message = ("a call that must be a tail call cannot leave " + What).str();
      F.getContext().diagnose(DiagnosticInfoUnsupported(F, Message, Tail->getDebugLoc()));
      continue;
    }
    IRBuilder<> At(Return);
    Place(At);
  }
}

void beforeUnwinding(Function &F, function_ref<void(IRBuilder<> &, Value *)> Place) {
  if (F.doesNotThrow())
    return;
  stopEachException(F);
  if (!F.hasPersonalityFn())
    F.setPersonalityFn(personalityFor(F));
  EscapeEnumerator Exits(F, "nvmove.unwind");
  while (IRBuilder<> *At = Exits.Next())
    if (auto *Resume = dyn_cast<ResumeInst>(At->GetInsertPoint()))
      Place(*At, At->CreateExtractValue(Resume->getValue(), 0));
}

} // namespace nvmove::plugin
