// See AccessChain.h.
#include "frontend/AccessChain.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"

using namespace clang;

namespace nvmove::plugin {

AccessChain AccessChain::of(const Expr &Accessed) {
  AccessChain Made;
  Made.addLvalue(&Accessed);
  return Made;
}

AccessChain AccessChain::behind(const Expr &Pointer) {
  AccessChain Made;
  Made.addPointer(&Pointer);
  return Made;
}

void AccessChain::add(QualType Record) {
  if (!Record->isRecordType() || Record->isDependentType() || Record->isIncompleteType())
    return;
  Hidden = Hidden || Record->isUnionType();
  Records.push_back(Record.getCanonicalType().getUnqualifiedType());
}

/// What it is cast from, and the bases on the way.
void AccessChain::addDerived(const CastExpr &Cast) {
  if (Cast.getCastKind() != CK_DerivedToBase && Cast.getCastKind() != CK_UncheckedDerivedToBase)
    return;
  Hidden = true;
  for (size_t Left = Cast.path_size(); Left > 1; --Left)
    add(Cast.path_begin()[Left - 2]->getType());
  QualType From = Cast.getSubExpr()->getType();
  add(From->isPointerType() ? From->getPointeeType() : From);
}

void AccessChain::addLvalue(const Expr *E) {
  E = E->IgnoreParens();
  if (auto *Cast = dyn_cast<CastExpr>(E)) {
    if (!E->isGLValue())
      return;
    addDerived(*Cast);
    addLvalue(Cast->getSubExpr());
  } else if (auto *Element = dyn_cast<ArraySubscriptExpr>(E)) {
    addPointer(Element->getBase());
  } else if (auto *Operator = dyn_cast<UnaryOperator>(E);
             Operator && Operator->getOpcode() == UO_Deref) {
    addPointer(Operator->getSubExpr());
  } else if (auto *Member = dyn_cast<MemberExpr>(E)) {
    auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl());
    if (!Field)
      return;
    add(Field->getASTContext().getRecordType(Field->getParent()));
    if (Member->isArrow())
      addPointer(Member->getBase());
    else
      addLvalue(Member->getBase());
  }
}

void AccessChain::addPointer(const Expr *E) {
  E = E->IgnoreParens();
  if (auto *Cast = dyn_cast<CastExpr>(E)) {
    if (Cast->getCastKind() == CK_ArrayToPointerDecay)
      return addLvalue(Cast->getSubExpr());
    if (Cast->getCastKind() == CK_LValueToRValue) // another object's
      return;
    addDerived(*Cast);
    if (Cast->getSubExpr()->getType()->isPointerType())
      addPointer(Cast->getSubExpr());
  } else if (auto *Operator = dyn_cast<UnaryOperator>(E);
             Operator && Operator->getOpcode() == UO_AddrOf) {
    addLvalue(Operator->getSubExpr());
  }
}

} // namespace nvmove::plugin
