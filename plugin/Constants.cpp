// Names for constants that have none: see StaticNames.h.
#include "StaticNames.h"

#include "nvmove/abi_statics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/xxhash.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// Characters, a zero behind them, and none among them.
bool isPlainString(const Constant &C) {
  if (auto *Data = dyn_cast<ConstantDataArray>(&C))
    return Data->isCString();
  auto *Zero = dyn_cast<ConstantAggregateZero>(&C);
  auto *Array = Zero ? dyn_cast<ArrayType>(Zero->getType()) : nullptr;
  return Array && Array->getNumElements() == 1 && Array->getElementType()->isIntegerTy(8);
}

/// Without a name, or with one that only numbers it in its file.
bool isNameless(const GlobalVariable &Variable) {
  bool IsNumbered = Variable.hasInternalLinkage() && Variable.getName().starts_with(".");
  return Variable.isConstant() && Variable.hasInitializer() && !Variable.hasSection() &&
         !Variable.getName().starts_with("llvm.") && (Variable.hasPrivateLinkage() || IsNumbered);
}

/// What a constant is made of, as text that is the same in each build: no numbers that the compiler
/// gave to types or to other constants.
class Content {
public:
  explicit Content(const DataLayout &Layout) : Layout(Layout) {}

  std::string of(const Constant &C) {
    add(C, 0);
    return std::move(Text);
  }

private:
  enum { Deepest = 16 };

  void add(const Constant &C, unsigned Depth) {
    Type *T = C.getType();
    Text += C.isNullValue() ? "(0 " : isa<UndefValue>(C) ? "(u " : "(";
    if (T->isSized())
      Text += utostr(Layout.getTypeAllocSize(T).getKnownMinValue()) + ' ';
    if (auto *Data = dyn_cast<ConstantDataSequential>(&C))
      Text += utostr(Data->getElementByteSize()) + ' ' + Data->getRawDataValues().str();
    else if (auto *Number = dyn_cast<ConstantInt>(&C))
      Text += toString(Number->getValue(), 16, /*Signed=*/false);
    else if (auto *Real = dyn_cast<ConstantFP>(&C))
      Text += toString(Real->getValueAPF().bitcastToAPInt(), 16, /*Signed=*/false);
    else if (auto *Global = dyn_cast<GlobalValue>(&C))
      addGlobal(*Global, Depth);
    else
      addParts(C, Depth);
    Text += ')';
  }

  /// Constants without a name may lead to each other.
  void addGlobal(const GlobalValue &Global, unsigned Depth) {
    auto *Variable = dyn_cast<GlobalVariable>(&Global);
    if (!Variable || !isNameless(*Variable))
      Text += Global.getName();
    else if (Depth < Deepest)
      add(*Variable->getInitializer(), Depth + Deepest / 4);
  }

  void addParts(const Constant &C, unsigned Depth) {
    if (auto *Expression = dyn_cast<ConstantExpr>(&C))
      Text += Expression->getOpcodeName();
    if (auto *Path = dyn_cast<GEPOperator>(&C)) {
      APInt Offset(Layout.getIndexTypeSizeInBits(Path->getType()), 0);
      Path->accumulateConstantOffset(Layout, Offset);
      Text += toString(Offset, 16, /*Signed=*/false);
    }
    for (const Use &Part : C.operands())
      if (auto *Constant = dyn_cast<llvm::Constant>(Part); Constant && Depth < Deepest)
        add(*Constant, Depth + 1);
  }

  const DataLayout &Layout;
  std::string Text;
};

} // namespace

bool nameConstants(Module &M) {
  SmallVector<GlobalVariable *> Others;
  bool Changed = false;
  for (GlobalVariable &Variable : M.globals()) {
    if (!isNameless(Variable))
      continue;
    Changed = true;
    // The linker merges strings, and keeps no greater alignment.
    if (Variable.hasPrivateLinkage() && Variable.hasGlobalUnnamedAddr() &&
        Variable.getAlign().valueOrOne() == 1 && isPlainString(*Variable.getInitializer()))
      Variable.setSection(NVM_STATIC_STRINGS);
    else
      Others.push_back(&Variable);
  }
  std::vector<std::string> Names; // all, before the first changes what others are made of
  for (GlobalVariable *Variable : Others)
    Names.push_back(
        NVM_STATIC_CONSTANT_NAME +
        utohexstr(xxh3_64bits(Content(M.getDataLayout()).of(*Variable->getInitializer()))));
  for (auto [Variable, Name] : zip(Others, Names)) {
    Variable->setName(Name);
    Variable->setLinkage(GlobalValue::InternalLinkage);
  }
  return Changed;
}

} // namespace nvmove::plugin
