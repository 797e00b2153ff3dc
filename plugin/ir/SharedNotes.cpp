// Functions that notes call: see SharedNotes.h.
#include "ir/SharedNotes.h"

#include "emit/Abi.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// The module's own for the ABI function \p Site: "__nvmove_note_8" for "__nvm_site_8".
Function *jumpTo(Module &M, StringRef Site) {
  std::string Name = ("__nvmove_note" + Site.substr(StringRef("__nvm_site").size())).str();
  if (Function *Made = M.getFunction(Name))
    return Made;
  auto *Target = cast<Function>(abiFunction(M, Site).getCallee());
  Function *F = Function::createWithDefaultAttr(Target->getFunctionType(),
                                                GlobalValue::LinkOnceODRLinkage, 0, Name, &M);
  F->setVisibility(GlobalValue::HiddenVisibility);
  F->setComdat(M.getOrInsertComdat(Name));
  F->setCallingConv(Target->getCallingConv());
  F->setDoesNotThrow();
  F->addFnAttr(Attribute::NoInline);
  if (Target->hasParamAttribute(0, Attribute::Nest))
    F->addParamAttr(0, Attribute::Nest);
  IRBuilder<> At(BasicBlock::Create(M.getContext(), "", F));
  SmallVector<Value *> Arguments;
  for (Argument &A : F->args())
    Arguments.push_back(&A);
  CallInst *Call = callAbi(At, Site, Arguments);
  // A jump needs a register for the address; in the large code model two, and there is but one.
  if (M.getCodeModel() != CodeModel::Large)
    Call->setTailCallKind(CallInst::TCK_MustTail);
  else
    Call->setTailCallKind(CallInst::TCK_NoTail);
  At.CreateRetVoid();
  // To the linker's optimizer a static chain that no trampoline needs is an argument like others.
  appendToCompilerUsed(M, {F});
  return F;
}

void callShared(IRBuilderBase &At, StringRef Site, ArrayRef<Value *> Arguments) {
  Function *Shared = jumpTo(*At.GetInsertBlock()->getModule(), Site);
  CallInst *Call = At.CreateCall(Shared, Arguments);
  Call->setCallingConv(Shared->getCallingConv());
  Call->setDoesNotThrow();
  if (Shared->hasParamAttribute(0, Attribute::Nest))
    Call->addParamAttr(0, Attribute::Nest);
}

} // namespace

void callSharedNote(IRBuilderBase &At, Value *Address, Value *Size, bool Ahead) {
  std::string Site = Ahead ? "__nvm_site_ahead" : "__nvm_site";
  if (auto *Known = dyn_cast<ConstantInt>(Size))
    if (std::string Own = Site + "_" + utostr(Known->getZExtValue()); isAbiName(Own))
      return callShared(At, Own, {Address});
  callShared(At, Site, {Address, At.CreateZExtOrTrunc(Size, At.getInt64Ty())});
}

void callSharedDrain(IRBuilderBase &At) { callShared(At, "__nvm_site_drain", {}); }

} // namespace nvmove::plugin
