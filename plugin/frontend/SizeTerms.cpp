// Sums and products of sizes, taken apart: see SizeTerms.h.
#include "frontend/SizeTerms.h"

#include "clang/AST/Expr.h"

using namespace clang;

namespace nvmove::plugin {
namespace {

/// A number of characters.
bool isLength(const Expr &E) {
  const auto *Call = dyn_cast<CallExpr>(&E);
  const FunctionDecl *Called = Call ? Call->getDirectCallee() : nullptr;
  return Called && Called->getIdentifier() &&
         (Called->getName() == "strlen" || Called->getName() == "strnlen");
}

/// Calls \p Take for each type whose size or parts \p E computes with, by names of names up to
/// \p Depth.
void forEachType(const Stmt &E, llvm::function_ref<void(QualType)> Take, unsigned Depth = 8) {
  if (auto *Of = dyn_cast<UnaryExprOrTypeTraitExpr>(&E)) { // what it looks at is not computed with
    if (Of->getKind() == UETT_SizeOf)
      Take(Of->getTypeOfArgument());
    return;
  }
  if (auto *Offset = dyn_cast<OffsetOfExpr>(&E))
    Take(Offset->getTypeSourceInfo()->getType());
  if (!Depth)
    return;
  const Expr *Meant = nullptr; // by a name
  if (auto *Name = dyn_cast<DeclRefExpr>(&E)) {
    if (auto *Constant = dyn_cast<EnumConstantDecl>(Name->getDecl()))
      Meant = Constant->getInitExpr();
    else if (auto *Variable = dyn_cast<VarDecl>(Name->getDecl());
             Variable && Variable->getType().isConstQualified())
      Meant = Variable->getAnyInitializer();
  }
  if (Meant)
    forEachType(*Meant, Take, Depth - 1);
  for (const Stmt *Part : E.children())
    if (Part)
      forEachType(*Part, Take, Depth);
}

} // namespace

bool isOnce(const Expr &E, const ASTContext &Context) {
  std::optional<llvm::APSInt> Value = E.getIntegerConstantExpr(Context);
  return E.IgnoreParenImpCasts()->getType()->isBooleanType() || (Value && Value->ule(1));
}

bool Terms::named() const {
  return llvm::any_of(All, [](const Term &T) { return !T.Type.isNull() || T.Anything; });
}

bool Terms::holdsPointers(const Term &T) const {
  return T.Anything || (!T.Type.isNull() && Layouts->holdsPointers(T.Type));
}

bool Terms::mayHoldPointers() const {
  return llvm::any_of(All, [&](const Term &T) { return T.Open || holdsPointers(T); });
}

void Terms::multiply() { All = {many()}; }

/// An element that is more than its type says, or less, has others behind it at places that no type
/// has.
Term Terms::many() const {
  const Term &First = All.front();
  bool IsWhole = All.size() == 1 && !First.Anything && !First.Before;
  if (IsWhole && !(holdsPointers(First) && Layouts->tail(First.Type)))
    return {First.Type, true};
  if (!mayHoldPointers())
    return {Layouts->context().CharTy, true};
  Term Unknown;
  Unknown.Anything = true;
  return Unknown;
}

void Terms::add(const Expr *E) {
  E = E->IgnoreParenCasts();
  if (auto *Both = dyn_cast<BinaryOperator>(E)) {
    if (Both->getOpcode() == BO_Add || Both->getOpcode() == BO_Sub) {
      add(Both->getLHS());
      return Both->getOpcode() == BO_Add ? add(Both->getRHS()) : All.push_back({});
    }
    if (Both->getOpcode() == BO_Mul)
      return addProduct(*Both);
  }
  if (auto *Of = dyn_cast<UnaryExprOrTypeTraitExpr>(E)) {
    QualType T = Of->getTypeOfArgument();
    if (Of->getKind() == UETT_SizeOf && !T->isIncompleteType() && !T->isVariableArrayType())
      return All.push_back({T});
  }
  if (auto *Offset = dyn_cast<OffsetOfExpr>(E); Offset && endsBeforeFlexibleArray(*Offset))
    return All.push_back({Offset->getTypeSourceInfo()->getType(), false, true});
  Term Number;
  Number.Open = !isLength(*E) && !E->isIntegerConstantExpr(Layouts->context());
  Number.Anything = computesWithPointers(*E);
  All.push_back(Number);
}

/// Whether a number is made of the size of something with pointers in a way that is none of sums and
/// products: rounded up, the larger of two.
bool Terms::computesWithPointers(const Expr &E) const {
  bool Found = false;
  forEachType(E, [&](QualType T) {
    Found |= !T->isIncompleteType() && !T->isDependentType() && Layouts->holdsPointers(T);
  });
  return Found;
}

/// So many of one type. Of two types the one without pointers only counts: sizeof(char).
void Terms::addProduct(const BinaryOperator &Product) {
  const ASTContext &Context = Layouts->context();
  Terms Left(Product.getLHS(), *Layouts), Right(Product.getRHS(), *Layouts);
  auto Holds = [](const Terms &Side) {
    return llvm::any_of(Side.All, [&](const Term &T) { return Side.holdsPointers(T); });
  };
  Terms *Element = !Left.named() || (Right.named() && !Holds(Left)) ? &Right : &Left;
  const Terms &Count = Element == &Left ? Right : Left;
  const Expr *Counting = Element == &Left ? Product.getRHS() : Product.getLHS();
  if (!Element->named()) {
    Term Number;
    Number.Open = !Product.isIntegerConstantExpr(Context);
    return All.push_back(Number);
  }
  if (Holds(*Element) && Holds(Count)) {
    Term Unknown;
    Unknown.Anything = true;
    return All.push_back(Unknown);
  }
  if (!isOnce(*Counting, Context))
    Element->multiply();
  All.insert(All.end(), Element->All.begin(), Element->All.end());
}

bool Terms::endsBeforeFlexibleArray(const OffsetOfExpr &Offset) const {
  if (Offset.getNumComponents() != 1 || Offset.getComponent(0).getKind() != OffsetOfNode::Field)
    return false;
  std::optional<Word> Tail = Layouts->tail(Offset.getTypeSourceInfo()->getType());
  uint64_t Bits = Layouts->context().getFieldOffset(Offset.getComponent(0).getField());
  return Tail && Tail->Layout.Offset == Bits / 8;
}

} // namespace nvmove::plugin
