// Types out of sizes: see AllocationSize.h.
#include "AllocationSize.h"

#include "clang/AST/Expr.h"

using namespace clang;

namespace nvmove::plugin {
namespace {

/// A part of a sum.
struct Term {
  QualType Type;       ///< what is measured; null: a number, or what is not understood
  bool Many = false;   ///< multiplied
  bool Before = false; ///< offsetof: of the record what lies before its flexible array
  bool Open = false;   ///< so many bytes that only the program's run knows, whatever they hold
};

/// A number of characters.
bool isLength(const Expr &E) {
  const auto *Call = dyn_cast<CallExpr>(&E);
  const FunctionDecl *Called = Call ? Call->getDirectCallee() : nullptr;
  return Called && Called->getIdentifier() &&
         (Called->getName() == "strlen" || Called->getName() == "strnlen");
}

/// An array without a length, or of none.
bool isTail(const FieldDecl &Field, const ASTContext &Context) {
  auto *Constant = Context.getAsConstantArrayType(Field.getType());
  return Field.getType()->isIncompleteArrayType() || (Constant && Constant->getSize().isZero());
}

class Terms {
public:
  Terms(const Expr *E, const LayoutBuilder &Layouts) : Layouts(Layouts) { add(E); }

  std::optional<AllocationSize> answer() const {
    const Term *Head = nullptr;
    bool Types = false, Pointers = false, Open = false;
    for (const Term &T : All) {
      Types |= !T.Type.isNull();
      Pointers |= holdsPointers(T);
      Open |= T.Open;
      if (!Head && !T.Type.isNull() && !T.Many)
        Head = &T;
    }
    if (!Types)
      return std::nullopt;
    if (All.size() == 1)
      return AllocationSize{All[0].Type, All[0].Before ? Rest::Bytes : Rest::None};
    if (Head && restFits(*Head))
      return AllocationSize{Head->Type, Open ? Rest::Words : Rest::Bytes};
    return AllocationSize{Pointers || Open ? QualType() : Layouts.context().CharTy};
  }

private:
  void add(const Expr *E) {
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
    Number.Open = !isLength(*E) && !E->isIntegerConstantExpr(Layouts.context());
    All.push_back(Number);
  }

  /// So many of one type. Of several only those with pointers matter.
  void addProduct(const BinaryOperator &Product) {
    Terms Left(Product.getLHS(), Layouts), Right(Product.getRHS(), Layouts);
    Term Bytes;
    size_t Before = All.size();
    for (const Terms *Side : {&Left, &Right})
      for (const Term &T : Side->All) {
        if (holdsPointers(T))
          All.push_back({T.Type, true});
        else if (Bytes.Type.isNull() && !T.Type.isNull())
          Bytes = {T.Type, true};
      }
    Bytes.Open = Bytes.Type.isNull() && !Product.isIntegerConstantExpr(Layouts.context());
    if (All.size() == Before)
      All.push_back(Bytes);
  }

  bool endsBeforeFlexibleArray(const OffsetOfExpr &Offset) const {
    return Offset.getNumComponents() == 1 &&
           Offset.getComponent(0).getKind() == OffsetOfNode::Field &&
           isTail(*Offset.getComponent(0).getField(), Layouts.context());
  }

  bool holdsPointers(const Term &T) const {
    return !T.Type.isNull() && Layouts.holdsPointers(T.Type);
  }

  /// What lies behind the record has no pointers, or is its flexible array.
  bool restFits(const Term &Head) const {
    QualType Element;
    if (auto *Record = Head.Type->getAsRecordDecl())
      for (const FieldDecl *Field : Record->fields())
        if (isTail(*Field, Layouts.context()))
          Element = Layouts.context().getBaseElementType(Field->getType());
    for (const Term &T : All)
      if (&T != &Head && holdsPointers(T) &&
          (Element.isNull() || !Layouts.context().hasSameUnqualifiedType(
                                   Layouts.context().getBaseElementType(T.Type), Element)))
        return false;
    return true;
  }

  const LayoutBuilder &Layouts;
  std::vector<Term> All;
};

} // namespace

std::optional<AllocationSize> sizedBy(const Expr *E, const LayoutBuilder &Layouts) {
  return Terms(E, Layouts).answer();
}

bool isProduct(const Expr *E, const ASTContext &Context) {
  auto *Both = dyn_cast<BinaryOperator>(E->IgnoreParenCasts());
  if (!Both)
    return false;
  if (Both->getOpcode() == BO_Mul)
    return !Both->getLHS()->isIntegerConstantExpr(Context) &&
           !Both->getRHS()->isIntegerConstantExpr(Context);
  return Both->getOpcode() == BO_Add &&
         (isProduct(Both->getLHS(), Context) || isProduct(Both->getRHS(), Context));
}

} // namespace nvmove::plugin
