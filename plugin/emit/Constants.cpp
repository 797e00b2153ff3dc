// Names for constants that have none: see StaticNames.h.
#include "emit/StaticNames.h"

#include "nvmove/abi_numbered.h"
#include "nvmove/abi_statics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Operator.h"
#include "llvm/Support/Path.h"
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

/// `name` of `name.N`; empty: it has no number.
StringRef withoutNumber(StringRef Name) {
  StringRef Rest = Name.rtrim("0123456789");
  return Rest.size() < Name.size() && Rest.ends_with(".") ? Rest.drop_back() : StringRef();
}

/// Names of a module that another build may give to something else.
class Numbers {
public:
  explicit Numbers(const Module &M) {
    for (const GlobalValue &Value : M.global_values())
      if (Value.hasLocalLinkage() && !withoutNumber(Value.getName()).empty())
        Numbered.insert(withoutNumber(Value.getName()));
  }

  bool has(const GlobalValue &Value) const {
    StringRef Name = Value.getName();
    nvm_numbered Read = nvm_numbered_of(Name.data(), Name.size());
    bool IsLocal =
        Value.hasLocalLinkage() && (Name.starts_with(".") || Name.contains("_block_invoke") ||
                                    !withoutNumber(Name).empty() || Numbered.contains(Name));
    return IsLocal || Name.empty() || Read.is_counted || Read.length < Name.size();
  }

private:
  StringSet<> Numbered; // the names that some have with a number
};

/// What a constant is made of, as text that is the same in each build: no numbers that the compiler
/// gave to types or to other constants. All of it, or nothing.
class Content {
public:
  Content(const Module &M, const Numbers &Unsteady)
      : Layout(M.getDataLayout()), File(sys::path::filename(M.getSourceFileName())),
        Unsteady(Unsteady) {}

  /// Empty: what it leads to has no name that lasts, is a circle, or too much.
  std::string of(const Constant &C) {
    add(C, 0);
    return IsWhole ? std::move(Text) : std::string();
  }

private:
  enum {
    Deepest = 2000,
    Most = 1 << 16
  }; // a stack of a megabyte; a second or so for 10,000 constants

  void add(const Constant &C, unsigned Depth) {
    if (Depth == Deepest || ++Parts == Most)
      IsWhole = false;
    if (!IsWhole)
      return;
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
    if (Variable && isNameless(*Variable)) {
      add(*Variable->getInitializer(), Depth + 1);
      return;
    }
    IsWhole &= !Unsteady.has(Global);
    if (Global.hasLocalLinkage())
      Text += (File + ":").str();
    Text += Global.getName();
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
      if (auto *Constant = dyn_cast<llvm::Constant>(Part))
        add(*Constant, Depth + 1);
  }

  const DataLayout &Layout;
  StringRef File;
  const Numbers &Unsteady;
  std::string Text;
  unsigned Parts = 0;
  bool IsWhole = true;
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
  Numbers Unsteady(M);
  std::vector<std::string> Contents; // of all, before the first gets a name that others are made of
  for (GlobalVariable *Variable : Others)
    Contents.push_back(Content(M, Unsteady).of(*Variable->getInitializer()));
  for (auto [Variable, Text] : zip(Others, Contents)) {
    if (Text.empty()) // it stays without
      continue;
    Variable->setName(NVM_STATIC_CONSTANT_NAME + utohexstr(xxh3_64bits(Text)));
    Variable->setLinkage(GlobalValue::InternalLinkage);
  }
  return Changed;
}

} // namespace nvmove::plugin
