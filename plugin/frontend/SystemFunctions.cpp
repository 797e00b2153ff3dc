// What parameters say of a function without a body: see SystemFunctions.h.
#include "frontend/SystemFunctions.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace nvmove::plugin {
namespace {

bool isStreamOrFacet(const CXXRecordDecl *Class) {
  constexpr llvm::StringRef Bases[] = {"ios_base", "facet", "basic_streambuf"};
  if (!Class || !Class->hasDefinition())
    return false;
  return (Class->getEnclosingNamespaceContext()->isStdNamespace() &&
          Class->getDeclName().isIdentifier() && llvm::is_contained(Bases, Class->getName())) ||
         llvm::any_of(Class->bases(), [](const CXXBaseSpecifier &Base) {
           return isStreamOrFacet(Base.getType()->getAsCXXRecordDecl());
         });
}

/// Memory that a program does not have: an object whose type only the library knows, a FILE, a
/// stream, a part of a locale.
bool isLibraryOwned(QualType Pointee) {
  if (auto *Name = Pointee->getAs<TypedefType>(); Name && Name->getDecl()->getName() == "FILE")
    return true;
  return (Pointee->isIncompleteType() && !Pointee->isVoidType()) ||
         isStreamOrFacet(Pointee->getAsCXXRecordDecl());
}

/// As printf does, which only reads what its format is about.
bool printsArguments(const FunctionDecl &F) {
  return llvm::any_of(F.specific_attrs<FormatAttr>(), [](const FormatAttr *Format) {
    return Format->getType()->getName().ends_with("printf");
  });
}

/// An object that has a byte to write; of a const one that it may change nevertheless.
bool mayChange(QualType T) {
  const CXXRecordDecl *Class = T->getAsCXXRecordDecl();
  if (!Class || !Class->hasDefinition())
    return !T.isConstQualified();
  return T.isConstQualified() ? Class->hasMutableFields() : !Class->isEmpty();
}

/// Pointers to something that may be written, in an object of a type or further on.
class Leads {
public:
  bool from(QualType T) {
    T = QualType(T->getBaseElementTypeUnsafe(), 0);
    if (T->isPointerType() || T->isReferenceType()) {
      QualType Pointee = T->getPointeeType();
      if (Pointee->isFunctionType() || isLibraryOwned(Pointee))
        return false;
      return mayChange(Pointee) || from(Pointee);
    }
    const RecordDecl *Record = T->getAsRecordDecl();
    Record = Record ? Record->getDefinition() : nullptr;
    if (!Record || Record->isDependentType() || !Seen.insert(Record).second)
      return false;
    auto *Class = dyn_cast<CXXRecordDecl>(Record);
    if (Class && !Class->isCLike())
      return false;
    return llvm::any_of(Record->fields(), [this](auto *F) { return from(F->getType()); });
  }

private:
  llvm::SmallPtrSet<const RecordDecl *, 8> Seen;
};

void add(SystemFunction &F, QualType T) {
  unsigned N = F.Arguments++;
  if (N >= SystemFunction::ArgumentsMax)
    return;
  uint64_t Bit = uint64_t(1) << N;
  bool IsAddress = T->isPointerType() || T->isReferenceType();
  QualType Pointee = IsAddress ? T->getPointeeType() : T; // a structure by value: what it leads to
  if (Pointee->isFunctionType() || isLibraryOwned(Pointee))
    return;
  bool LeadsOn = (IsAddress || T->isRecordType()) && Leads().from(Pointee);
  if (IsAddress ? mayChange(Pointee) : LeadsOn)
    F.WritableArguments |= Bit;
  if (LeadsOn)
    F.LeadingArguments |= Bit;
  if (IsAddress && Pointee->isVoidType() && !Pointee.isConstQualified())
    F.UntypedArguments |= Bit;
}

} // namespace

SystemFunction describeSystemFunction(const FunctionDecl &F) {
  SystemFunction Made;
  bool Prints = printsArguments(F);
  Made.Variadic = F.isVariadic() && !Prints;
  if (auto *Method = dyn_cast<CXXMethodDecl>(&F); Method && Method->isInstance())
    add(Made, Method->getThisType());
  for (const ParmVarDecl *Parameter : F.parameters())
    add(Made, Parameter->getType());
  if (Prints) // nor what a va_list leads to
    Made.LeadingArguments = 0;
  return Made;
}

} // namespace nvmove::plugin
