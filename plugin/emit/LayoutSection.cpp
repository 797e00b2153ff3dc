// Record layouts as constants: see LayoutSection.h. A descriptor and the pointer to it in the
// section form a comdat named by the type's id, so that a program holds each once however many of
// its sources know the type.
#include "emit/LayoutSection.h"

#include "base/Frontend.h"
#include "emit/Abi.h"

#include "nvmove/abi.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// The descriptor, the fields and the texts of a type are one variable: an object file with a
/// thousand types takes its time from the compiler by what it has of symbols and sections.
class LayoutEmitter {
public:
  explicit LayoutEmitter(Module &M)
      : M(M), C(M.getContext()), Ptr(PointerType::getUnqual(C)), Word(Type::getInt64Ty(C)),
        Half(Type::getInt32Ty(C)) {}

  GlobalVariable *emit(const TypeLayout &T) {
    std::string Name = "__nvm_type_" + utohexstr(T.Id, /*LowerCase=*/true);
    Group = M.getOrInsertComdat(Name);
    Texts.clear();
    size_t NameAt = text(T.Name), MembersAt = text(T.Members);
    SmallVector<size_t> FieldsAt;
    for (const FieldLayout &F : T.Fields)
      FieldsAt.push_back(text(F.Name));
    auto *Fields = ArrayType::get(fieldShape(), T.Fields.size());
    auto *Bytes = ArrayType::get(Type::getInt8Ty(C), Texts.size());
    auto *Whole = StructType::get(typeShape(), Fields, Bytes);
    GlobalVariable *Made = shared(Whole, nullptr, Name);
    TextsAt = sizeof(nvm_type) + T.Fields.size() * sizeof(nvm_field);
    SmallVector<Constant *> Each;
    for (auto [F, At] : zip(T.Fields, FieldsAt))
      Each.push_back(field(F, Made, At));
    Constant *Descriptor = ConstantStruct::get(
        typeShape(),
        {ConstantInt::get(Word, T.Id), inside(Made, TextsAt + NameAt),
         inside(Made, TextsAt + MembersAt), ConstantInt::get(Word, T.Size),
         ConstantInt::get(Half, T.Alignment), ConstantInt::get(Half, T.Fields.size()),
         Each.empty() ? ConstantPointerNull::get(Ptr) : inside(Made, sizeof(nvm_type))});
    Made->setInitializer(
        ConstantStruct::get(Whole, {Descriptor, ConstantArray::get(Fields, Each),
                                    ConstantDataArray::getString(C, Texts, /*AddNull=*/false)}));
    GlobalVariable *Entry = shared(Ptr, Made, Name + "_entry");
    Entry->setSection(NVM_TYPES_SECTION);
    Entry->setAlignment(Align(8));
    return Entry;
  }

private:
  StructType *typeShape() {
    static_assert(sizeof(nvm_type) == 48, "this has the shape of struct nvm_type");
    return StructType::get(Word, Ptr, Ptr, Word, Half, Half, Ptr);
  }

  StructType *fieldShape() {
    static_assert(sizeof(nvm_field) == 48, "this has the shape of struct nvm_field");
    return StructType::get(Ptr, Word, Word, Half, Half, Half, Half, Ptr);
  }

  Constant *field(const FieldLayout &F, GlobalVariable *Whole, size_t NameAt) {
    return ConstantStruct::get(fieldShape(),
                               {inside(Whole, TextsAt + NameAt), ConstantInt::get(Word, F.Target),
                                ConstantInt::get(Word, F.Tag), ConstantInt::get(Half, F.Offset),
                                ConstantInt::get(Half, F.Count), ConstantInt::get(Half, F.Stride),
                                ConstantInt::get(Half, F.Kind), emitWhen(F.When)});
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

  GlobalVariable *shared(Type *T, Constant *Value, const std::string &Name) {
    auto *Made = new GlobalVariable(M, T, true, GlobalValue::LinkOnceODRLinkage, Value, Name);
    Made->setVisibility(GlobalValue::HiddenVisibility);
    Made->setComdat(Group);
    return Made;
  }

  /// Adds a text; where it lies behind the first.
  size_t text(StringRef Text) {
    size_t At = Texts.size();
    Texts += Text;
    Texts += '\0';
    return At;
  }

  Constant *inside(GlobalVariable *Whole, size_t Offset) {
    return ConstantExpr::getInBoundsGetElementPtr(Type::getInt8Ty(C), Whole,
                                                  ConstantInt::get(Word, Offset));
  }

  Constant *data(Constant *Value) {
    auto *Made = new GlobalVariable(M, Value->getType(), true, GlobalValue::PrivateLinkage, Value,
                                    "nvmove.when");
    Made->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
    return Made;
  }

  Module &M;
  LLVMContext &C;
  PointerType *Ptr;
  IntegerType *Word, *Half;
  Comdat *Group = nullptr;
  std::string Texts;  ///< of the type at hand, each with its end
  size_t TextsAt = 0; ///< bytes from the variable's start
};

} // namespace

void describeSection(Module &M, StringRef Section, StringRef By, bool IfThere) {
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
  ReturnInst *End = At.CreateRetVoid();
  At.SetInsertPoint(End);
  if (IfThere) {
    auto *Function = cast<GlobalValue>(abiFunction(M, By).getCallee());
    Function->setLinkage(GlobalValue::ExternalWeakLinkage);
    At.SetInsertPoint(SplitBlockAndInsertIfThen(At.CreateIsNotNull(Function), End, false));
  }
  callAbi(At, By, {Bound("__start_"), Bound("__stop_")});
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
