// Calls without a name: see VirtualCalls.h.
#include "ir/VirtualCalls.h"

#include "base/Frontend.h"
#include "emit/Sites.h"
#include "ir/Access.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// An attribute: metadata of a call is lost where the inliner makes an invoke of it.
constexpr const char *VirtualMark = "nvmove-virtual";

} // namespace

bool markVirtualCalls(Module &M) {
  auto &Known = frontendFacts().VirtualCalls;
  if (Known.empty())
    return false;
  bool Changed = false;
  for (Function &F : M)
    for (Instruction &I : instructions(F)) {
      auto *Call = dyn_cast<CallBase>(&I);
      if (!Call || !Call->isIndirectCall() || !I.getDebugLoc())
        continue;
      auto Found = Known.find(siteKey(I));
      if (Found == Known.end())
        continue;
      Call->addFnAttr(Attribute::get(M.getContext(), VirtualMark, Found->second));
      Changed = true;
    }
  return Changed;
}

void declareVirtual(Module &M) {
  auto *Type = FunctionType::get(llvm::Type::getVoidTy(M.getContext()), /*isVarArg=*/false);
  for (const auto &Call : frontendFacts().VirtualCalls)
    M.getOrInsertFunction(Call.second, Type);
}

const Function *declaredCallee(const CallBase &Call) {
  if (const Function *Callee = namedCallee(Call))
    return Callee;
  StringRef Name = Call.getFnAttr(VirtualMark).getValueAsString();
  return Name.empty() ? nullptr : Call.getModule()->getFunction(Name);
}

} // namespace nvmove::plugin
