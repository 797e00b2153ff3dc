// Sources without an option: see SourceNames.h.
#include "emit/SourceNames.h"

#include "base/Settings.h"
#include "emit/LayoutSection.h"

#include "nvmove/abi.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

bool hasFunctions(const Module &M) {
  return any_of(M, [](const Function &F) { return !F.isDeclaration(); });
}

void addText(Module &M, StringRef Section, StringRef Text) {
  Constant *Bytes = ConstantDataArray::getString(M.getContext(), Text);
  auto *Name = new GlobalVariable(M, Bytes->getType(), /*isConstant=*/true,
                                  GlobalValue::PrivateLinkage, Bytes, "nvmove.source");
  Name->setSection(Section);
  Name->setAlignment(Align(1));
  appendToUsed(M, {Name});
}

} // namespace

void nameUntraced(Module &M, bool Describes) {
  bool IsNamed = hasFunctions(M) && !settings().Trace && !settings().Raw;
  // An empty text makes the section: a linker resolves no bounds of one that is not there.
  if (IsNamed || Describes)
    addText(M, NVM_UNTRACED_SECTION, IsNamed ? M.getSourceFileName() : "");
  if (Describes)
    describeSection(M, NVM_UNTRACED_SECTION, "__nvm_describe_untraced");
}

void nameAccesses(Module &M) {
  if (!hasFunctions(M))
    return;
  addText(M, NVM_ACCESSES_SECTION,
          settings().Redirect ? StringRef(NVM_REDIRECTED) : StringRef(M.getSourceFileName()));
  describeSection(M, NVM_ACCESSES_SECTION, "__nvm_describe_accesses", /*IfThere=*/true);
}

} // namespace nvmove::plugin
