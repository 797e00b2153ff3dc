// See PlaceNames.h.
#include "frontend/PlaceNames.h"

#include "clang/AST/Decl.h"

using namespace clang;
using llvm::dyn_cast;

namespace nvmove::plugin {

std::string nameOf(const ValueDecl &Variable) {
  auto *Function = dyn_cast<FunctionDecl>(Variable.getDeclContext());
  return (Function ? Function->getNameAsString() + "." : "") + Variable.getNameAsString();
}

std::string nameOfField(const FieldDecl &Field) {
  const RecordDecl *Record = Field.getParent();
  const TypedefNameDecl *Alias = Record->getTypedefNameForAnonDecl();
  return (Alias ? Alias->getName() : Record->getName()).str() + "." + Field.getNameAsString();
}

std::string nameOfPlace(const Expr *Place) {
  Place = Place->IgnoreParenCasts();
  if (auto *Element = dyn_cast<ArraySubscriptExpr>(Place))
    return nameOfPlace(Element->getBase()) + "[]";
  if (auto *Variable = dyn_cast<DeclRefExpr>(Place))
    return nameOf(*Variable->getDecl());
  auto *Member = dyn_cast<MemberExpr>(Place);
  auto *Field = Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
  if (!Field)
    return "";
  std::string Name = nameOfField(*Field);
  auto *Variable = dyn_cast<DeclRefExpr>(Member->getBase()->IgnoreParenCasts());
  return Name.front() == '.' && Variable ? nameOf(*Variable->getDecl()) + Name : Name;
}

} // namespace nvmove::plugin
