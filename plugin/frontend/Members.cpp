// Member lines of a type: see Members.h.
#include "frontend/Members.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/RecordLayout.h"
#include "llvm/Support/raw_ostream.h"

using namespace clang;

namespace nvmove::plugin {
namespace {

class MemberWriter {
public:
  MemberWriter(const ASTContext &Context, const PrintingPolicy &Names, llvm::raw_ostream &OS)
      : Context(Context), Names(Names), OS(OS) {}

  /// A member of type \p T, \p Bit bits from the start of the whole.
  void write(QualType T, uint64_t Bit, const std::string &Name) {
    std::string Dimensions; // "x3x4"
    for (T = T.getCanonicalType(); T->isArrayType(); T = T.getCanonicalType()) {
      auto *Constant = Context.getAsConstantArrayType(T);
      Dimensions += "x" + std::to_string(Constant ? Constant->getSize().getZExtValue() : 0);
      T = Context.getAsArrayType(T)->getElementType();
    }
    if (auto *Atomic = T->getAs<AtomicType>()) // its value lies at its start
      if (QualType Value = Atomic->getValueType().getCanonicalType(); Value->isRecordType())
        T = Value;
    bool IsArray = !Dimensions.empty();
    const RecordDecl *Record = T->getAsRecordDecl();
    if (IsArray || !Record)
      OS << Bit / 8 << ' ' << Context.getTypeSizeInChars(T).getQuantity() << Dimensions << ' '
         << kindOf(T) << ' ' << Name << '\n';
    if (!Record || !Record->isCompleteDefinition())
      return;
    std::string Prefix = IsArray ? Name + "[]" : Name;
    if (!Prefix.empty())
      writePart("part", Bit, T, Prefix);
    writeWhole(*Record, Bit, Prefix);
  }

private:
  /// A record inside another one, by its type: a pointer may lead to it.
  void writePart(const char *Kind, uint64_t Bit, QualType T, const std::string &Name) {
    writePart(Kind, Bit, Context.getTypeSizeInChars(T), T, Name);
  }

  void writePart(const char *Kind, uint64_t Bit, CharUnits Size, QualType T,
                 const std::string &Name) {
    OS << Bit / 8 << ' ' << Size.getQuantity() << ' ' << Kind << ' ' << Name << ':'
       << T.getCanonicalType().getUnqualifiedType().getAsString(Names) << '\n';
  }

  void writeBase(const CXXBaseSpecifier &Base, const CXXRecordDecl &Declared, uint64_t Bit,
                 const std::string &Prefix) {
    // Without the padding at its end, where members of the class itself may lie.
    CharUnits Size = Declared.isEmpty() ? CharUnits::Zero()
                                        : Context.getASTRecordLayout(&Declared).getNonVirtualSize();
    writePart("base", Bit, Size, Base.getType(), Prefix);
    writeRecord(Declared, Bit, Prefix);
  }

  void writeWhole(const RecordDecl &Record, uint64_t Bit, const std::string &Prefix) {
    writeRecord(Record, Bit, Prefix);
    if (auto *Class = dyn_cast<CXXRecordDecl>(&Record))
      for (const CXXBaseSpecifier &Base : Class->vbases()) {
        const auto &Declared = *Base.getType()->getAsCXXRecordDecl();
        CharUnits At = Context.getASTRecordLayout(&Record).getVBaseClassOffset(&Declared);
        writeBase(Base, Declared, Bit + static_cast<uint64_t>(Context.toBits(At)), Prefix);
      }
  }

  /// Without its virtual bases.
  void writeRecord(const RecordDecl &Record, uint64_t Bit, const std::string &Prefix) {
    const ASTRecordLayout &Layout = Context.getASTRecordLayout(&Record);
    if (auto *Class = dyn_cast<CXXRecordDecl>(&Record)) {
      if (Layout.hasOwnVFPtr() || Layout.isPrimaryBaseVirtual())
        OS << Bit / 8 << " 8 vtable " << Prefix << (Prefix.empty() ? "" : ".") << "(vtable)\n";
      for (const CXXBaseSpecifier &Base : Class->bases())
        if (const auto *Declared = Base.getType()->getAsCXXRecordDecl();
            Declared && !Base.isVirtual())
          writeBase(Base, *Declared,
                    Bit +
                        static_cast<uint64_t>(Context.toBits(Layout.getBaseClassOffset(Declared))),
                    Prefix);
    }
    for (const FieldDecl *Field : Record.fields()) {
      uint64_t At = Bit + Layout.getFieldOffset(Field->getFieldIndex());
      std::string Name = Prefix;
      if (!Field->getName().empty())
        Name += (Prefix.empty() ? "" : ".") + Field->getName().str();
      if (!Field->isBitField())
        writeField(*Field, At, Name);
      else if (unsigned Width = Field->getBitWidthValue(Context);
               Width && !Field->getName().empty())
        OS << At / 8 << '.' << At % 8 << ' ' << Width << "b "
           << (Field->getType()->isSignedIntegerOrEnumerationType() ? "signed" : "unsigned") << ' '
           << Name << '\n';
    }
  }

  /// An anonymous record is no part by itself: nothing can name it.
  void writeField(const FieldDecl &Field, uint64_t Bit, const std::string &Name) {
    const RecordDecl *Record = Field.getType()->getAsRecordDecl();
    if (Field.getName().empty() && Record)
      writeWhole(*Record, Bit, Name);
    else
      write(Field.getType(), Bit, Name);
  }

  /// "float" is one of float, double and long double: its size tells which.
  std::string kindOfFloat(QualType T) const {
    const llvm::fltSemantics &Format = Context.getFloatTypeSemantics(T);
    if (&Format == &llvm::APFloat::IEEEhalf())
      return "half";
    if (&Format == &llvm::APFloat::BFloat())
      return "bfloat";
    return &Format == &llvm::APFloat::IEEEquad() ? "quad" : "float";
  }

  std::string kindOf(QualType T) const {
    if (auto *Atomic = T->getAs<AtomicType>())
      T = Atomic->getValueType().getCanonicalType();
    if (T->isPointerType() || T->isReferenceType())
      return T->getPointeeType()->isFunctionType() ? "function" : "pointer";
    if (T->isBlockPointerType())
      return "pointer";
    if (T->isRecordType())
      return T->isUnionType() ? "union" : "record";
    if (T->isBooleanType())
      return "bool";
    if (T->isAnyCharacterType())
      return T->isSignedIntegerType() ? "char" : "uchar";
    if (T->isRealFloatingType())
      return kindOfFloat(T);
    if (auto *Bits = T->getAs<BitIntType>())
      return (Bits->isSigned() ? "bits" : "ubits") + std::to_string(Bits->getNumBits());
    if (auto *Vector = T->getAs<VectorType>())
      return "vector-" + withSize(Vector->getElementType().getCanonicalType());
    if (auto *Complex = T->getAs<ComplexType>())
      return "complex-" + withSize(Complex->getElementType().getCanonicalType());
    if (T->isSignedIntegerOrEnumerationType())
      return "signed";
    return T->isIntegralOrEnumerationType() ? "unsigned" : "other";
  }

  std::string withSize(QualType T) const {
    return kindOf(T) + std::to_string(Context.getTypeSizeInChars(T).getQuantity());
  }

  const ASTContext &Context;
  const PrintingPolicy &Names;
  llvm::raw_ostream &OS;
};

} // namespace

std::string memberLines(const ASTContext &Context, const PrintingPolicy &Names, QualType T) {
  std::string Text;
  llvm::raw_string_ostream OS(Text);
  T = T.getCanonicalType();
  MemberWriter(Context, Names, OS).write(T, 0, "");
  return Text;
}

} // namespace nvmove::plugin
