// Returns and exceptions: see Exits.h.
#include "ir/Exits.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/EscapeEnumerator.h"
#include "llvm/Transforms/Utils/Local.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// C's for `cleanup`, in libgcc. That of C++ would end the program where a thread is cancelled in a call that is known
/// to throw nothing.
void givePersonality(Function &F) {
  if (F.hasPersonalityFn())
    return;
  FunctionType *Type = FunctionType::get(llvm::Type::getInt32Ty(F.getContext()), true);
  F.setPersonalityFn(
      cast<Constant>(F.getParent()->getOrInsertFunction("__gcc_personality_v0", Type).getCallee()));
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
  givePersonality(F);
  EscapeEnumerator Exits(F, "nvmove.unwind");
  while (IRBuilder<> *At = Exits.Next())
    if (auto *Resume = dyn_cast<ResumeInst>(At->GetInsertPoint()))
      Place(*At, At->CreateExtractValue(Resume->getValue(), 0));
}

void stopExceptions(Function &F, ArrayRef<CallInst *> Calls) {
  if (Calls.empty())
    return;
  givePersonality(F);
  LLVMContext &C = F.getContext();
  BasicBlock *Landing = BasicBlock::Create(C, "nvmove.landing", &F);
  IRBuilder<> At(Landing);
  LandingPadInst *Pad =
      At.CreateLandingPad(StructType::get(At.getPtrTy(), At.getInt32Ty()), /*NumClauses=*/0);
  Pad->setCleanup(true);
  At.CreateResume(Pad);
  for (CallInst *Call : Calls)
    changeToInvokeAndSplitBasicBlock(Call, Landing);
}

} // namespace nvmove::plugin
