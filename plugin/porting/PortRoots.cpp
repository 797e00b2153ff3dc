// The roots that this source has, as data: see PortRoots.h.
#include "porting/PortRoots.h"

#include "base/Frontend.h"
#include "emit/LayoutSection.h"
#include "porting/Placed.h"
#include "porting/Port.h"

#include "nvmove/abi.h"

#include "llvm/IR/Constants.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nvmove::plugin {

bool emitRoots(Module &M) {
  LLVMContext &C = M.getContext();
  llvm::Type *Word = llvm::Type::getInt64Ty(C);
  auto Data = [&](Constant *Value, StringRef Name) {
    auto *Made =
        new GlobalVariable(M, Value->getType(), false, GlobalValue::PrivateLinkage, Value, Name);
    return Made;
  };
  auto Text = [&](StringRef S) { return Data(ConstantDataArray::getString(C, S), "nvmove.name"); };
  SmallVector<GlobalValue *> Kept;
  for (const RootPlace &R : frontendFacts().Roots) {
    GlobalVariable *Variable =
        R.InPool ? placedBefore(M, R.Variable) : M.getNamedGlobal(R.Variable);
    if (!Variable || Variable->isDeclaration())
      continue;
    Constant *Address = ConstantExpr::getGetElementPtr(
        llvm::Type::getInt8Ty(C), Variable, ArrayRef<Constant *>{ConstantInt::get(Word, R.Offset)});
    Constant *Place = R.InPool ? placeOf(M, R.Variable) : nullptr;
    static_assert(sizeof(nvm_root) == 56, "the constant below has the shape of struct nvm_root");
    Constant *Root = ConstantStruct::getAnon(
        {Text(R.Name), Text(R.After), Address, ConstantInt::get(Word, R.Size),
         ConstantInt::get(Word, R.Type), ConstantInt::get(Word, R.Constant),
         Place ? Place : ConstantPointerNull::get(PointerType::getUnqual(C))});
    GlobalVariable *Entry = Data(Data(Root, "nvmove.root"), "nvmove.root_entry");
    Entry->setSection(NVM_ROOTS_SECTION);
    Entry->setAlignment(Align(8));
    Kept.push_back(Entry);
  }
  if (Kept.empty())
    return false;
  appendToUsed(M, Kept);
  describeSection(M, NVM_ROOTS_SECTION, "__nvm_describe_roots");
  return true;
}

} // namespace nvmove::plugin
