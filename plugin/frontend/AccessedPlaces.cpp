// Places of accesses in the source: see AccessedPlaces.h.
#include "frontend/AccessedPlaces.h"

#include "base/Frontend.h"
#include "base/Settings.h"
#include "frontend/AccessChain.h"
#include "frontend/Layouts.h"
#include "frontend/PlaceNames.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"

#include <initializer_list>

using namespace clang;

namespace nvmove::plugin {
namespace {

/// Of --emulate-types.
bool looksAtRecords() { return settings().Emulates || !settings().EmulateTypes.empty(); }
bool looksAtCopies() { return settings().Checked || looksAtRecords(); }

/// The member that \p Member is a part of; null: it is reached through a pointer, or is of none.
const MemberExpr *inside(const MemberExpr &Member) {
  if (Member.isArrow())
    return nullptr;
  const Expr *Base = Member.getBase()->IgnoreParens();
  while (auto *Element = dyn_cast<ArraySubscriptExpr>(Base)) {
    auto *Decayed = dyn_cast<ImplicitCastExpr>(Element->getBase()->IgnoreParens());
    if (!Decayed || Decayed->getCastKind() != CK_ArrayToPointerDecay)
      return nullptr;
    Base = Decayed->getSubExpr()->IgnoreParens();
  }
  return dyn_cast<MemberExpr>(Base);
}

bool isInUnion(const MemberExpr &Member) {
  for (const MemberExpr *Its = &Member; Its; Its = inside(*Its))
    if (auto *Field = dyn_cast<FieldDecl>(Its->getMemberDecl());
        Field && Field->getParent()->isUnion())
      return true;
  return false;
}

/// What is stored to: a field, or an element of an array that is one.
const FieldDecl *assignedField(const Expr *To) {
  To = To->IgnoreParens();
  while (auto *Element = dyn_cast<ArraySubscriptExpr>(To)) {
    auto *Decayed = dyn_cast<ImplicitCastExpr>(Element->getBase()->IgnoreParens());
    if (!Decayed || Decayed->getCastKind() != CK_ArrayToPointerDecay)
      return nullptr;
    To = Decayed->getSubExpr()->IgnoreParens();
  }
  auto *Member = dyn_cast<MemberExpr>(To);
  return Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
}

/// By name: with -fno-builtin clang knows no function of the C library.
bool isCalled(const FunctionDecl *Callee, std::initializer_list<llvm::StringRef> Names) {
  if (!Callee || !Callee->getIdentifier() || !Callee->isExternC())
    return false;
  llvm::StringRef Name = Callee->getName();
  Name.consume_front("__builtin_");
  return llvm::is_contained(Names, Name);
}

/// What a record is copied from, each of which has its own code: the branches of `c ? *q : *r`, and the end of `f(), *q`.
template <class Function> void forEachCopied(const Expr *From, Function Take) {
  From = From->IgnoreParenImpCasts();
  if (auto *Chosen = dyn_cast<AbstractConditionalOperator>(From)) {
    forEachCopied(Chosen->getTrueExpr(), Take);
    forEachCopied(Chosen->getFalseExpr(), Take);
  } else if (auto *Two = dyn_cast<BinaryOperator>(From); Two && Two->isCommaOp()) {
    forEachCopied(Two->getRHS(), Take);
  } else {
    Take(*From);
  }
}

} // namespace

std::string AccessedPlaces::keyOf(SourceLocation At) const {
  PresumedLoc Place = Context.getSourceManager().getPresumedLoc(At);
  return Place.isInvalid()
             ? std::string()
             : placeKey(nameInDebugInfo(Place.getFilename()), Place.getLine(), Place.getColumn());
}

void AccessedPlaces::noteMember(const MemberExpr &Member) {
  noteHidden(&Member, Member.getMemberLoc());
  noteThrough(frontendFacts().AccessedThrough, AccessChain::of(Member), Member.getMemberLoc());
}

void AccessedPlaces::noteChange(const UnaryOperator &Change) {
  if (!Change.isIncrementDecrementOp())
    return;
  noteHidden(Change.getSubExpr(), Change.getOperatorLoc());
  noteThrough(frontendFacts().AccessedThrough, AccessChain::of(*Change.getSubExpr()),
              Change.getOperatorLoc());
  noteStored(*Change.getSubExpr(), Change.getOperatorLoc());
}

/// A record is read as a whole: to initialise another, as an argument, as a result.
void AccessedPlaces::noteRead(const ImplicitCastExpr &Cast) {
  if (!looksAtRecords() || Cast.getCastKind() != CK_LValueToRValue)
    return;
  SourceLocation At = Cast.getSubExpr()->IgnoreParens()->getExprLoc();
  noteCopied(frontendFacts().ReadRecords, Cast.getType(), At);
  AccessChain Chain = AccessChain::of(*Cast.getSubExpr());
  noteThrough(frontendFacts().AccessedThrough, Chain, At);
  noteThrough(frontendFacts().ReadThrough, Chain, At);
}

void AccessedPlaces::noteAtomic(const AtomicExpr &Access) {
  noteThrough(frontendFacts().AccessedThrough, AccessChain::behind(*Access.getPtr()),
              Access.getExprLoc());
}

/// C++: the compiler makes a copy of a constructor that does nothing else.
void AccessedPlaces::noteConstructed(const CXXConstructExpr &Made) {
  const CXXConstructorDecl *Constructor = Made.getConstructor();
  if (!looksAtRecords() || !Constructor->isTrivial() || !Constructor->isCopyOrMoveConstructor())
    return;
  noteCopied(frontendFacts().CopiedRecords, Made.getType(), Made.getExprLoc());
  noteCopied(frontendFacts().ReadRecords, Made.getType(), Made.getExprLoc());
}

void AccessedPlaces::noteBinary(const BinaryOperator &Operator) {
  if (Operator.isPtrMemOp())
    noteByPointer(Operator, Operator.getOperatorLoc());
  else
    noteAssignment(Operator);
}

void AccessedPlaces::noteAssignment(const BinaryOperator &Assignment) {
  if (!looksAtCopies() || !Assignment.isAssignmentOp())
    return;
  noteHidden(Assignment.getLHS(), Assignment.getOperatorLoc());
  AccessChain Chain = AccessChain::of(*Assignment.getLHS());
  noteThrough(frontendFacts().AccessedThrough, Chain, Assignment.getOperatorLoc());
  noteStored(*Assignment.getLHS(), Assignment.getOperatorLoc());
  if (Assignment.getOpcode() == BO_Assign && Assignment.getType()->isRecordType())
    forEachCopied(Assignment.getRHS(), [&](const Expr &From) {
      noteCopied(frontendFacts().CopiedRecords, Assignment.getType(), From.getExprLoc());
      noteThrough(frontendFacts().CopiedThrough, Chain, From.getExprLoc());
      noteThrough(frontendFacts().ReadThrough, AccessChain::of(From), From.getExprLoc());
    });
  const FieldDecl *Field = assignedField(Assignment.getLHS());
  std::string Key = keyOf(Assignment.getOperatorLoc());
  if (Field && Assignment.getType()->isPointerType() && !Key.empty())
    frontendFacts().AssignedFields[Key] =
        Context.getRecordType(Field->getParent()).getAsString() + "." + Field->getNameAsString();
}

/// A record is copied: the checked build looks at its pointers, an emulation charges it. The code of an
/// assignment has the place of what is copied.
void AccessedPlaces::noteCopied(llvm::StringMap<Ids> &To, QualType T, SourceLocation At) {
  if (!T->isRecordType() || T->isIncompleteType() || T->isDependentType())
    return;
  if (std::string Key = keyOf(At); !Key.empty())
    To[Key].insert(Layouts.describe(T));
}

/// C++: the compiler makes a copy of an assignment that does nothing else.
void AccessedPlaces::noteAssigned(const CallExpr &Call, const FunctionDecl *Callee) {
  auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
  if (!Method || !Method->isTrivial() ||
      !(Method->isCopyAssignmentOperator() || Method->isMoveAssignmentOperator()))
    return;
  QualType Its = Context.getRecordType(Method->getParent());
  noteCopied(frontendFacts().CopiedRecords, Its, Call.getExprLoc());
  noteCopied(frontendFacts().ReadRecords, Its, Call.getExprLoc());
}

void AccessedPlaces::noteCall(const CallExpr &Call) {
  const FunctionDecl *Callee = Call.getDirectCallee();
  if (!looksAtCopies())
    return;
  noteAssigned(Call, Callee);
  bool Copies = isCalled(Callee, {"memcpy", "memmove"}), Fills = isCalled(Callee, {"memset"});
  bool Wanted = Copies || (Fills && looksAtRecords());
  if (!Wanted || Call.getNumArgs() < 2)
    return;
  notePointed(frontendFacts().CopiedRecords, *Call.getArg(0), Call.getExprLoc());
  if (!Copies || !looksAtRecords())
    return;
  notePointed(frontendFacts().ReadRecords, *Call.getArg(1), Call.getExprLoc());
  if (std::string Key = keyOf(Call.getExprLoc()); !Key.empty())
    frontendFacts().CalledCopies.insert(Key);
}

void AccessedPlaces::notePointed(llvm::StringMap<Ids> &To, const Expr &Pointer, SourceLocation At) {
  auto &Through = &To == &frontendFacts().ReadRecords ? frontendFacts().ReadThrough
                                                      : frontendFacts().CopiedThrough;
  noteThrough(Through, AccessChain::behind(Pointer), At);
  QualType T = Pointer.IgnoreParenImpCasts()->getType();
  if (T->isPointerType())
    noteCopied(To, T->getPointeeType(), At);
}

/// C++: a member that a pointer to members says.
void AccessedPlaces::noteByPointer(const BinaryOperator &Accessed, SourceLocation At) {
  auto *Pointer = Accessed.getRHS()->getType()->getAs<MemberPointerType>();
  if (!looksAtRecords() || !Pointer || !Pointer->isMemberDataPointer() ||
      Pointer->getClass()->isDependentType())
    return;
  if (std::string Key = keyOf(At); !Key.empty())
    frontendFacts().HiddenRecords[Key].insert(Layouts.describe(QualType(Pointer->getClass(), 0)));
}

/// Clang makes no step of an address for the first bit-fields of a record, and for members of unions.
void AccessedPlaces::noteHidden(const Expr *Accessed, SourceLocation At) {
  if (auto *Operator = dyn_cast<BinaryOperator>(Accessed->IgnoreParens());
      Operator && Operator->isPtrMemOp())
    noteByPointer(*Operator, At);
  auto *Member = dyn_cast<MemberExpr>(Accessed->IgnoreParens());
  auto *Field = Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
  std::string Key = looksAtRecords() && Field ? keyOf(At) : "";
  if (Key.empty() || Field->getParent()->isDependentType() ||
      !(Field->isBitField() || isInUnion(*Member)))
    return;
  auto &Hidden = frontendFacts().HiddenRecords[Key];
  for (; Member; Member = inside(*Member))
    if (auto *Its = dyn_cast<FieldDecl>(Member->getMemberDecl()))
      Hidden.insert(Layouts.describe(Context.getRecordType(Its->getParent())));
}

/// A path with a union or a base class.
void AccessedPlaces::noteThrough(llvm::StringMap<std::vector<Ids>> &To, const AccessChain &Chain,
                                 SourceLocation At) {
  std::string Key = looksAtRecords() && Chain.isHidden() ? keyOf(At) : "";
  if (Key.empty())
    return;
  Ids All;
  for (QualType Record : Chain.records())
    All.insert(Layouts.describe(Record));
  if (std::vector<Ids> &Known = To[Key]; !llvm::is_contained(Known, All))
    Known.push_back(std::move(All));
}

/// What a store is to: a port file may call it volatile.
void AccessedPlaces::noteStored(const Expr &To, SourceLocation At) {
  std::string Key = looksAtRecords() ? keyOf(At) : "";
  if (Key.empty() || To.isTypeDependent())
    return;
  const FieldDecl *Field = assignedField(&To);
  std::string Name = Field ? nameOfField(*Field) : "";
  auto [Known, New] = frontendFacts().StoredFields.try_emplace(Key, Name);
  if (!New && Known->second != Name) // stores of one macro share a place
    Known->second.clear();
}

} // namespace nvmove::plugin
