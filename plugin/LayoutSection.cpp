// Record layouts as constants: see LayoutSection.h. A descriptor and the pointer to it in the
// section form a comdat named by the type's id, so that a program holds each once however many of
// its sources know the type.
#include "LayoutSection.h"

#include "Abi.h"
#include "Frontend.h"

#include "nvmove/abi.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

class LayoutEmitter {
public:
  explicit LayoutEmitter(Module &M)
      : M(M), C(M.getContext()), Ptr(PointerType::getUnqual(C)), Word(Type::getInt64Ty(C)),
        Half(Type::getInt32Ty(C)) {}

  GlobalVariable *emit(const TypeLayout &T) {
    std::string Name = "__nvm_type_" + utohexstr(T.Id, /*LowerCase=*/true);
    Group = M.getOrInsertComdat(Name);
    Constant *Fields = emitFields(T, Name);
    Constant *Descriptor = ConstantStruct::getAnon(
        {ConstantInt::get(Word, T.Id), text(T.Name), text(T.Members),
         ConstantInt::get(Word, T.Size), ConstantInt::get(Half, T.Alignment),
         ConstantInt::get(Half, T.Fields.size()), Fields});
    static_assert(sizeof(nvm_type) == 48, "the descriptor above has the shape of struct nvm_type");
    Constant *Made = shared(Descriptor, Name);
    GlobalVariable *Entry = shared(Made, Name + "_entry");
    Entry->setSection(NVM_TYPES_SECTION);
    Entry->setAlignment(Align(8));
    return Entry;
  }

private:
  Constant *emitFields(const TypeLayout &T, const std::string &Name) {
    if (T.Fields.empty())
      return ConstantPointerNull::get(Ptr);
    SmallVector<Constant *> Fields;
    for (const FieldLayout &F : T.Fields)
      Fields.push_back(ConstantStruct::getAnon(
          {text(F.Name), ConstantInt::get(Word, F.Target), ConstantInt::get(Word, F.Tag),
           ConstantInt::get(Half, F.Offset), ConstantInt::get(Half, F.Count),
           ConstantInt::get(Half, F.Stride), ConstantInt::get(Half, F.Kind), emitWhen(F.When)}));
    static_assert(sizeof(nvm_field) == 48, "the field above has the shape of struct nvm_field");
    auto *Array = ArrayType::get(Fields.front()->getType(), Fields.size());
    return shared(ConstantArray::get(Array, Fields), Name + "_fields");
  }

  Constant *emitWhen(const std::optional<WhenLayout> &When) {
    if (!When)
      return ConstantPointerNull::get(Ptr);
    SmallVector<uint64_t> Values(When->Values.begin(), When->Values.end());
    auto Byte = [&](unsigned Value) { return ConstantInt::get(Type::getInt8Ty(C), Value); };
    static_assert(sizeof(nvm_when) == 24, "the constant below has the shape of struct nvm_when");
    return data(ConstantStruct::getAnon(
        {ConstantInt::get(Half, When->Offset), Byte(When->FirstBit), Byte(When->Bits),
         Byte(When->Follows), Byte(When->Unless), ConstantInt::get(Half, Values.size()),
         ConstantInt::get(Half, 0), data(ConstantDataArray::get(C, Values))}));
  }

  GlobalVariable *shared(Constant *Value, const std::string &Name) {
    auto *Made =
        new GlobalVariable(M, Value->getType(), true, GlobalValue::LinkOnceODRLinkage, Value, Name);
    Made->setVisibility(GlobalValue::HiddenVisibility);
    Made->setComdat(Group);
    return Made;
  }

  Constant *text(StringRef Text) { return data(ConstantDataArray::getString(C, Text)); }

  Constant *data(Constant *Value) {
    auto *Made = new GlobalVariable(M, Value->getType(), true, GlobalValue::PrivateLinkage, Value,
                                    "nvmove.name");
    Made->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    return Made;
  }

  Module &M;
  LLVMContext &C;
  PointerType *Ptr;
  IntegerType *Word, *Half;
  Comdat *Group = nullptr;
};

} // namespace

void describeSection(Module &M, StringRef Section, StringRef By) {
  constexpr int BeforeAll = 100;
  auto *F = Function::createWithDefaultAttr(
      FunctionType::get(Type::getVoidTy(M.getContext()), false), GlobalValue::LinkOnceODRLinkage, 0,
      "__nvmove_describe_" + Section, &M);
  F->setVisibility(GlobalValue::HiddenVisibility);
  F->setComdat(M.getOrInsertComdat(F->getName()));
  F->setDoesNotThrow();
  IRBuilder<> At(BasicBlock::Create(M.getContext(), "", F));
  auto Bound = [&](const Twine &Which) {
    auto *Made = cast<GlobalVariable>(M.getOrInsertGlobal((Which + Section).str(), At.getPtrTy()));
    Made->setVisibility(GlobalValue::HiddenVisibility);
    return Made;
  };
  callAbi(At, By, {Bound("__start_"), Bound("__stop_")});
  At.CreateRetVoid();
  appendToGlobalCtors(M, F, BeforeAll, F);
}

void emitTypeLayouts(Module &M) {
  LayoutEmitter Emitter(M);
  SmallVector<GlobalValue *> Entries;
  for (const TypeLayout &T : frontendFacts().Types)
    Entries.push_back(Emitter.emit(T));
  if (Entries.empty())
    return;
  appendToUsed(M, Entries); // retained: nothing refers to the section but its bounds
  describeSection(M, NVM_TYPES_SECTION, "__nvm_describe");
}

} // namespace nvmove::plugin
