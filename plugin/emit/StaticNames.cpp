// Names for link-time optimisation: see StaticNames.h.
#include "emit/StaticNames.h"

#include "nvmove/abi_statics.h"

#include "llvm/IR/Constants.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nvmove::plugin {

/// Says that what is local in the symbol table, behind this file's name, may be so for the linker's
/// sake alone.
static void markFile(Module &M, const Twine &Suffix) {
  Type *Byte = Type::getInt8Ty(M.getContext());
  auto *Mark = new GlobalVariable(M, Byte, /*isConstant=*/true, GlobalValue::InternalLinkage,
                                  ConstantInt::get(Byte, 0), Suffix);
  appendToUsed(M, {Mark});
}

void nameStatics(Module &M) {
  StringRef File = sys::path::filename(M.getSourceFileName());
  if (!M.getModuleFlag("EnableSplitLTOUnit") || File.empty() || File.contains('@'))
    return; // not for LTO; or a name that a linker takes for a symbol's version
  SmallVector<GlobalValue *, 8> Used;
  collectUsedGlobalVariables(M, Used, /*CompilerUsed=*/false);
  collectUsedGlobalVariables(M, Used, /*CompilerUsed=*/true);
  SmallPtrSet<GlobalValue *, 8> Kept(Used.begin(), Used.end());
  std::string Suffix = (Twine(NVM_STATIC_IN) + File + NVM_STATIC_END).str();
  for (GlobalValue &Value : M.global_values())
    if (Value.hasInternalLinkage() && !Kept.contains(&Value) &&
        !Value.getName().starts_with("\1") && !Value.getName().starts_with("llvm."))
      Value.setName(Value.getName() + Suffix);
  markFile(M, Suffix);
}

} // namespace nvmove::plugin
