// Sources without a trace: see Untraced.h.
#include "trace/Untraced.h"

#include "base/Settings.h"
#include "emit/LayoutSection.h"

#include "nvmove/abi.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nvmove::plugin {

void nameUntraced(Module &M, bool Describes) {
  bool HasFunctions = any_of(M, [](const Function &F) { return !F.isDeclaration(); });
  bool IsNamed = HasFunctions && !settings().Trace && !settings().Raw;
  if (!IsNamed && !Describes)
    return;
  // An empty one makes the section: a linker resolves no bounds of one that is not there.
  StringRef Source = IsNamed ? StringRef(M.getSourceFileName()) : "";
  Constant *Text = ConstantDataArray::getString(M.getContext(), Source);
  auto *Name = new GlobalVariable(M, Text->getType(), /*isConstant=*/true,
                                  GlobalValue::PrivateLinkage, Text, "nvmove.untraced");
  Name->setSection(NVM_UNTRACED_SECTION);
  Name->setAlignment(Align(1));
  appendToUsed(M, {Name});
  if (Describes)
    describeSection(M, NVM_UNTRACED_SECTION, "__nvm_describe_untraced");
}

} // namespace nvmove::plugin
