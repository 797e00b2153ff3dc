// Types out of sizes: see AllocationSize.h.
#include "frontend/AllocationSize.h"

#include "frontend/SizeTerms.h"

#include "clang/AST/Expr.h"

using namespace clang;

namespace nvmove::plugin {
namespace {

class Judge {
public:
  Judge(const Terms &Sum, QualType Destination, const LayoutBuilder &Layouts)
      : Sum(Sum), All(Sum.all()), Layouts(Layouts), Context(Layouts.context()) {
    if (!Destination.isNull() && tellsContent(Destination))
      Content = elementOf(Destination->getPointeeType());
  }

  AllocationSize answer() const {
    AllocationSize Found = All.size() == 1 ? single() : sum();
    if (llvm::any_of(All, [](const Term &T) { return T.Anything; }))
      Found = {};
    Found.NamesRecord = llvm::any_of(All, [&](const Term &T) {
      return T.Anything || (!T.Type.isNull() && elementOf(T.Type)->isRecordType());
    });
    return Found;
  }

private:
  QualType elementOf(QualType T) const {
    return Context.getBaseElementType(T).getCanonicalType().getUnqualifiedType();
  }

  bool isSame(QualType A, QualType B) const { return elementOf(A) == elementOf(B); }

  /// Whether what the destination leads to agrees with a \p T there: a T, what a T begins with, or
  /// a union with one.
  bool fits(QualType T) const {
    if (isSame(T, Content) || (!Layouts.holdsPointers(T) && !Layouts.holdsPointers(Content)))
      return true;
    const RecordDecl *Record = Content->getAsRecordDecl();
    if (Record && Layouts.beginsWith(T, Content))
      return true;
    return Record && Record->isUnion() && llvm::any_of(Record->fields(), [&](const FieldDecl *F) {
             return isSame(F->getType(), T);
           });
  }

  AllocationSize single() const {
    const Term &Only = All.front();
    if (Only.Anything || Content.isNull() || fits(Only.Type))
      return {Only.Type, Only.Before ? Rest::Bytes : Rest::None};
    if (Content->isPointerType() && elementOf(Only.Type)->isPointerType())
      return {Content};
    return {};
  }

  AllocationSize sum() const {
    const Term *Head = Content.isNull() ? selfOrdered() : atDestination();
    if (Head && restFits(*Head))
      return {Head->Type, isOpen() ? Rest::Words : Rest::Bytes};
    if (Sum.mayHoldPointers())
      return {};
    auto Whole = llvm::find_if(All, isWhole);
    bool IsPlain = llvm::none_of(
        All, [&](const Term &T) { return !T.Type.isNull() && Layouts.hasWords(T.Type); });
    return IsPlain && Whole != All.end() ? AllocationSize{Whole->Type, Rest::Bytes}
                                         : AllocationSize{Context.CharTy};
  }

  bool isOpen() const {
    return llvm::any_of(All, [](const Term &T) { return T.Open; });
  }

  static bool isWhole(const Term &T) { return !T.Type.isNull() && !T.Many; }

  /// What the destination leads to; null: nothing that is measured.
  const Term *atDestination() const {
    for (const Term &T : All)
      if (isWhole(T) && isSame(T.Type, Content))
        return &T;
    for (const Term &T : All)
      if (isWhole(T) && fits(T.Type))
        return &T;
    return nullptr;
  }

  /// A record with a flexible array and nothing else but elements of that; null: none.
  const Term *selfOrdered() const {
    for (const Term &T : All) {
      std::optional<Word> Tail = isWhole(T) ? Layouts.tail(T.Type) : std::nullopt;
      if (Tail && llvm::all_of(All, [&](const Term &Other) {
            return &Other == &T || Other.Type.isNull() || isElement(*Tail, Other.Type) ||
                   Context.getTypeSizeInChars(Other.Type).isOne();
          }))
        return &T;
    }
    return nullptr;
  }

  bool isElement(const Word &Tail, QualType T) const {
    return !Tail.Target.isNull() && isSame(Tail.Target, T);
  }

  /// What lies behind the record has no pointers, or is its flexible array.
  bool restFits(const Term &Head) const {
    std::optional<Word> Tail = Layouts.tail(Head.Type);
    return llvm::all_of(All, [&](const Term &T) {
      return &T == &Head || !Sum.holdsPointers(T) || (Tail && isElement(*Tail, T.Type));
    });
  }

  const Terms &Sum;
  const std::vector<Term> &All;
  const LayoutBuilder &Layouts;
  ASTContext &Context;
  QualType Content; ///< what the destination leads to; null: it does not say
};

/// Of several arguments that name a type the one that is what the destination leads to; null: it
/// does not say.
const Terms *ofDestination(const std::vector<Terms> &Named, QualType Destination,
                           const ASTContext &Context) {
  if (Destination.isNull() || !tellsContent(Destination))
    return nullptr;
  for (const Terms &T : Named)
    if (QualType Type = T.all().front().Type;
        T.all().size() == 1 && !Type.isNull() &&
        Context.hasSameUnqualifiedType(Type, Destination->getPointeeType()))
      return &T;
  return nullptr;
}

bool areSame(const Terms &A, const Terms &B, const ASTContext &Context) {
  const Term &One = A.all().front(), &Other = B.all().front();
  return A.all().size() == 1 && B.all().size() == 1 && !One.Type.isNull() && !Other.Type.isNull() &&
         Context.hasSameUnqualifiedType(One.Type, Other.Type);
}

/// sizeof(char), which counts or is counted.
bool isByte(const Terms &T, const ASTContext &Context) {
  QualType Type = T.all().front().Type;
  return T.all().size() == 1 && !Type.isNull() && Context.getTypeSizeInChars(Type).isOne();
}

/// Leaves what is counted in bytes, if there is something else. True: so many of it.
bool dropBytes(std::vector<Terms> &Named, const ASTContext &Context) {
  bool Many = false;
  auto Drop = [&](const Terms &T) {
    bool Drops = isByte(T, Context);
    Many |= Drops && T.all().front().Many;
    return Drops;
  };
  if (llvm::all_of(Named, [&](const Terms &T) { return isByte(T, Context); }))
    return false;
  llvm::erase_if(Named, Drop);
  return Many;
}

/// Which of them is the size and which an alignment, or a count, nobody says.
AllocationSize ofSeveral(const std::vector<Terms> &Named, QualType Destination,
                         const LayoutBuilder &Layouts) {
  const ASTContext &Context = Layouts.context();
  if (const Terms *One = ofDestination(Named, Destination, Context))
    return Judge(*One, Destination, Layouts).answer();
  bool Same =
      llvm::all_of(Named, [&](const Terms &T) { return areSame(T, Named.front(), Context); });
  bool Plain = llvm::none_of(Named, [](const Terms &T) { return T.mayHoldPointers(); });
  if (Same || Plain)
    return Judge(Named.front(), Destination, Layouts).answer();
  AllocationSize Unknown;
  Unknown.NamesRecord = true;
  return Unknown;
}

} // namespace

std::optional<AllocationSize> sizedBy(llvm::ArrayRef<const Expr *> Integers, QualType Destination,
                                      const LayoutBuilder &Layouts) {
  const ASTContext &Context = Layouts.context();
  std::vector<Terms> Named;
  bool Counted = false;
  for (const Expr *E : Integers)
    if (Terms T(E, Layouts); T.named())
      Named.push_back(std::move(T));
    else
      Counted |= !isOnce(*E, Context);
  Counted |= dropBytes(Named, Context);
  if (Named.empty())
    return std::nullopt;
  if (Named.size() > 1)
    return ofSeveral(Named, Destination, Layouts);
  if (Counted)
    Named.front().multiply();
  return Judge(Named.front(), Destination, Layouts).answer();
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

bool tellsContent(QualType Pointer) {
  if (!Pointer->isPointerType())
    return false;
  QualType Content = Pointer->getPointeeType();
  if (auto *Builtin = Content->getAs<BuiltinType>();
      Builtin &&
      (Builtin->isVoidType() || Builtin->isCharType() || Builtin->getKind() == BuiltinType::Bool))
    return false;
  return !Content->isIncompleteType() && !Content->isFunctionType() &&
         !Content->isVariablyModifiedType();
}

} // namespace nvmove::plugin
