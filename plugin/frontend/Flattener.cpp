// Words of a type: see Flattener.h.
#include "frontend/Flattener.h"

#include "frontend/Tails.h"
#include "frontend/UnionWords.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Basic/SourceManager.h"

using namespace clang;

namespace nvmove::plugin {
namespace {

const struct {
  llvm::StringRef Annotation;
  uint32_t Kind;
} PointerKinds[] = {
    {"nvmove.pointer", NVM_FIELD_POINTER},   {"nvmove.tagged", NVM_FIELD_POINTER},
    {"nvmove.weak", NVM_FIELD_WEAK_POINTER}, {"nvmove.static", NVM_FIELD_STATIC_POINTER},
    {"nvmove.either", NVM_FIELD_EITHER},     {"nvmove.xor", NVM_FIELD_XOR},
    {"nvmove.address", NVM_FIELD_ADDRESS},
};

/// What the field's own marks say it is; 0: nothing.
uint32_t annotatedKind(const FieldDecl &Field) {
  for (const auto &Known : PointerKinds)
    if (annotation(Field, Known.Annotation))
      return Known.Kind;
  return 0;
}

/// Whether the marks say something of a value that its type does not.
bool isMarked(const FieldDecl &Field, QualType T) {
  bool IsPointer = annotation(Field, "nvmove.pointer") && T->isPointerType();
  return (annotatedKind(Field) && !IsPointer) || annotation(Field, "nvmove.volatile");
}

/// The same word in element \p N; the member that decides about it may lie in the element.
Word moved(Word W, uint64_t By, uint64_t From, uint64_t Size) {
  W.Layout.Offset += By;
  if (auto &When = W.Layout.When; When && When->Offset >= From && When->Offset < From + Size)
    When->Offset += By;
  return W;
}

bool isLockName(llvm::StringRef Name) {
#define LOCK_TYPE(Type)                                                                            \
  if (Name == #Type)                                                                               \
    return true;
#include "nvmove/locks.def"
#undef LOCK_TYPE
  return false;
}

/// A type of the C library, by any of its names: a library's own type for locks may stand for one of C's.
bool isLock(const ASTContext &Context, QualType T) {
  auto Is = [&](const TypedefNameDecl &Name) {
    return isLockName(Name.getName()) &&
           Context.getSourceManager().isInSystemHeader(Name.getLocation());
  };
  for (; auto *Named = T->getAs<TypedefType>(); T = Named->desugar())
    if (Is(*Named->getDecl()))
      return true;
  const TagDecl *Tag = T->getAsTagDecl();
  const TypedefNameDecl *Name = Tag ? Tag->getTypedefNameForAnonDecl() : nullptr;
  return Name && Is(*Name);
}

void append(Words &To, Words From) { std::move(From.begin(), From.end(), std::back_inserter(To)); }

} // namespace

Words Flattener::flatten(QualType T, uint64_t Offset, const std::string &Name, uint32_t Kind,
                         const Scope *Around) const {
  if (isLock(Context, T)) {
    Word Lock = volatileBytes(Name, Offset, sizeOf(T));
    Lock.IsLock = true;
    return {Lock};
  }
  QualType Written = T; // with the names of types
  T = T.getCanonicalType();
  if (auto *Atomic = T->getAs<AtomicType>())
    T = Atomic->getValueType().getCanonicalType();
  if (T->isBlockPointerType()) // to the stack or the C library's memory
    return {word(Name, Offset, Kind, QualType())};
  if (T->isPointerType() || T->isReferenceType()) {
    QualType Pointee = T->getPointeeType();
    bool Function = Pointee->isFunctionType();
    return {word(Name, Offset, Function ? uint32_t(NVM_FIELD_FUNCTION) : Kind,
                 Function ? QualType() : Pointee)};
  }
  // The address of the function, and how far to move the object; of a virtual one a small odd
  // number in its place.
  if (T->isMemberFunctionPointerType())
    return {word(Name, Offset, NVM_FIELD_FUNCTION, QualType())};
  if (auto *Array = Context.getAsConstantArrayType(Written))
    return repeat(Array->getElementType(), Array->getSize().getZExtValue(), Offset, Name, Kind,
                  Around);
  if (auto *Record = T->getAsRecordDecl())
    return Record->isUnion() ? flattenUnion(*Record, Offset, Name, Around)
                             : flattenWhole(*Record, Offset, Name, Around);
  return {};
}

uint64_t Flattener::offsetOf(const ASTRecordLayout &Layout, const FieldDecl &Field) const {
  return bytes(Context.toCharUnitsFromBits(
      static_cast<int64_t>(Layout.getFieldOffset(Field.getFieldIndex()))));
}

Word Flattener::word(const std::string &Name, uint64_t Offset, uint32_t Kind,
                     QualType Target) const {
  Word W;
  W.Layout.Name = Name;
  W.Layout.Offset = Offset;
  W.Layout.Stride = sizeof(void *);
  W.Layout.Kind = Kind;
  W.Target = Target;
  return W;
}

Word Flattener::volatileBytes(const std::string &Name, uint64_t Offset, uint64_t Count) const {
  Word W = word(Name, Offset, NVM_FIELD_VOLATILE, QualType());
  W.Layout.Stride = 1;
  W.Layout.Count = Count;
  return W;
}

Word Flattener::plainTail(uint64_t Offset, const std::string &Name) const {
  Word W = word(Name, Offset, NVM_FIELD_FLEXIBLE_ARRAY, Context.CharTy);
  W.Layout.Stride = 1;
  W.Layout.Count = 0;
  return W;
}

Word Flattener::undecidedTail(uint64_t Offset, const std::string &Name) const {
  Word W = word(Name, Offset, NVM_FIELD_FLEXIBLE_ARRAY, Context.UnsignedLongTy);
  W.Layout.Count = 0;
  W.Elements = {word("", 0, NVM_FIELD_UNION, QualType())};
  return W;
}

Words Flattener::elements(const Word &Tail) const {
  return Tail.Elements.empty() ? flatten(Tail.Target, 0, "") : Tail.Elements;
}

Words Flattener::repeat(QualType Element, uint64_t Count, uint64_t Offset, const std::string &Name,
                        uint32_t Kind, const Scope *Around) const {
  Words Each = flatten(Element, Offset, Name, Kind, Around), All;
  uint64_t Size = Each.empty() ? 0 : sizeOf(Element);
  for (Word &W : Each) {
    FieldLayout &L = W.Layout;
    bool Inside = L.When && L.When->Offset >= Offset && L.When->Offset < Offset + Size;
    bool Settled = L.When && L.When->Follows != Inside; // decided elsewhere than its neighbours
    if (L.Count == 1) {
      L.Stride = Size;
      L.Count = Count;
      if (L.When)
        L.When->Follows = Inside;
      All.push_back(W);
    } else if (uint64_t(L.Count) * L.Stride == Size && !Settled) {
      L.Count *= Count; // an array of arrays without a gap
      All.push_back(W);
    } else if (L.Kind == NVM_FIELD_VOLATILE && L.Count < Count) {
      for (uint64_t Byte = 0; Byte < L.Count; ++Byte) { // of each element the first, and so on
        Word One = W;
        One.Layout.Offset += Byte * L.Stride;
        One.Layout.Count = Count;
        One.Layout.Stride = Size;
        All.push_back(One);
      }
    } else {
      for (uint64_t N = 0; N < Count; ++N)
        All.push_back(moved(W, N * Size, Offset, Size));
    }
  }
  if (Count == 0)
    All.clear();
  return All;
}

/// An integer that its mark declares to hold an address.
Words Flattener::flattenNumber(QualType T, uint64_t Offset, const std::string &Name,
                               uint32_t Kind) const {
  if (!isWord(T))
    return {};
  Word W = word(Name, Offset, Kind, QualType());
  W.Layout.Count = sizeOf(T) / sizeof(void *);
  return {W};
}

bool fillsBytes(const ASTContext &Context, const FieldDecl &Field) {
  const ASTRecordLayout &Layout = Context.getASTRecordLayout(Field.getParent());
  uint64_t Bits = Field.getBitWidthValue(Context);
  return Bits != 0 && Bits % 8 == 0 && Layout.getFieldOffset(Field.getFieldIndex()) % 8 == 0;
}

/// A volatile bit-field; \p Offset is that of its first bit's byte.
Words Flattener::flattenBits(const FieldDecl &Field, uint64_t Offset,
                             const std::string &Name) const {
  if (!annotation(Field, "nvmove.volatile"))
    return {};
  if (!fillsBytes(Context, Field)) {
    refuseBits(Context, Field);
    return {};
  }
  return {volatileBytes(Name, Offset, Field.getBitWidthValue(Context) / 8)};
}

/// A pointer or an integer that could hold an address, or an array of them.
bool Flattener::isWord(QualType T) const {
  T = Context.getBaseElementType(T);
  if (auto *Atomic = T->getAs<AtomicType>())
    T = Atomic->getValueType();
  return T->isPointerType() || T->isBlockPointerType() || T->isReferenceType() ||
         T->isMemberPointerType() ||
         (T->isIntegralOrEnumerationType() && sizeOf(T) == sizeof(void *));
}

uint64_t Flattener::sizeOf(const FieldDecl &Field) const {
  if (Field.isBitField())
    return (Field.getBitWidthValue(Context) + 7) / 8;
  QualType T = Field.getType();
  return Field.isPotentiallyOverlapping() ? bytes(Context.getTypeInfoDataSizeInChars(T).Width)
                                          : sizeOf(T);
}

/// What the marks of \p Field make of a value of type \p T: but for its condition.
Words Flattener::flattenMarked(const FieldDecl &Field, QualType T, uint64_t Offset,
                               const std::string &Name, const Scope *Around) const {
  if (annotation(Field, "nvmove.volatile"))
    return {volatileBytes(Name, Offset, T == Field.getType() ? sizeOf(Field) : sizeOf(T))};
  uint32_t Kind = annotatedKind(Field);
  if (Kind && !isWord(T))
    refuseMark(Context, Field);
  Words All = flatten(T, Offset, Name, Kind ? Kind : NVM_FIELD_POINTER, Around);
  if (Kind && All.empty())
    All = flattenNumber(T, Offset, Name, Kind);
  uint64_t Tag = annotatedTag(Context, Field);
  for (Word &W : All)
    W.Layout.Tag |= Tag;
  return All;
}

/// An array without a length, or of none: its elements follow up to the end of the block.
Words Flattener::flattenTail(const FieldDecl &Field, QualType Element, uint64_t Offset,
                             const std::string &Name, const Scope *Around) const {
  if (!sizeOf(Element))
    return {plainTail(Offset, Name)};
  Word W = word(Name, Offset, NVM_FIELD_FLEXIBLE_ARRAY, Element);
  W.Layout.Stride = sizeOf(Element);
  W.Layout.Count = 0;
  if (isMarked(Field, Element))
    W.Elements = flattenMarked(Field, Element, 0, "", nullptr);
  Scope Outside{nullptr, 0, Around}; // what an element's own marks name there is refused
  flatten(Element, 0, Name, NVM_FIELD_POINTER, &Outside);
  return {W};
}

Words Flattener::flattenField(const FieldDecl &Field, uint64_t Offset, const std::string &Prefix,
                              const Scope *Around) const {
  std::string Name = Prefix;
  if (!Field.getName().empty())
    Name += (Prefix.empty() ? "" : ".") + Field.getName().str();
  if (Field.isBitField() && annotatedKind(Field))
    refuseMark(Context, Field);
  if (Field.isBitField())
    return flattenBits(Field, Offset, Name);
  QualType T = Field.getType();
  auto *Constant = Context.getAsConstantArrayType(T);
  bool IsTail = T->isIncompleteArrayType() || (Constant && Constant->getSize().isZero());
  Words All =
      IsTail ? flattenTail(Field, Context.getAsArrayType(T)->getElementType().getCanonicalType(),
                           Offset, Name, Around)
             : flattenMarked(Field, T, Offset, Name, Around);
  std::optional<WhenLayout> When = annotatedWhen(Context, Field, Around);
  bool Twice = false;
  for (Word &W : All) {
    if (!When || W.Layout.Kind == NVM_FIELD_VOLATILE)
      continue;
    if (W.isTail())
      refuseCondition(Context, Field);
    Twice |= W.Layout.When.has_value();
    W.Layout.When = When;
  }
  if (Twice)
    refuseConditions(Context, Field);
  return All;
}

/// A record that is no base of another: it has its virtual bases, direct and indirect, behind it.
/// One of them may lie where the record itself starts and share its pointer to a vtable.
Words Flattener::flattenWhole(const RecordDecl &Record, uint64_t Offset, const std::string &Prefix,
                              const Scope *Around) const {
  Words All = flattenRecord(Record, Offset, Prefix, Around);
  auto *Class = dyn_cast<CXXRecordDecl>(&Record);
  if (!Class || !Class->getNumVBases())
    return All;
  const ASTRecordLayout &Layout = Context.getASTRecordLayout(&Record);
  Scope Here{&Record, Offset, Around};
  for (const CXXBaseSpecifier &Base : Class->vbases()) {
    const auto &Declared = *Base.getType()->getAsCXXRecordDecl();
    uint64_t At = Offset + bytes(Layout.getVBaseClassOffset(&Declared));
    for (Word &W : flattenRecord(Declared, At, Prefix, &Here))
      if (llvm::none_of(All, [&](Word &O) { return O.Layout.Offset == W.Layout.Offset; }))
        All.push_back(std::move(W));
  }
  return All;
}

/// Without its virtual bases.
Words Flattener::flattenRecord(const RecordDecl &Record, uint64_t Offset, const std::string &Prefix,
                               const Scope *Around) const {
  const ASTRecordLayout &Layout = Context.getASTRecordLayout(&Record);
  Scope Here{&Record, Offset, Around};
  Words All;
  if (auto *Class = dyn_cast<CXXRecordDecl>(&Record)) {
    if (Layout.hasOwnVFPtr() || Layout.isPrimaryBaseVirtual())
      All.push_back(word(Prefix + "(vtable)", Offset, NVM_FIELD_STATIC_POINTER, QualType()));
    for (const CXXBaseSpecifier &Base : Class->bases())
      if (!Base.isVirtual()) {
        const auto &Declared = *Base.getType()->getAsCXXRecordDecl();
        append(All, flattenRecord(Declared, Offset + bytes(Layout.getBaseClassOffset(&Declared)),
                                  Prefix, &Here));
      }
  }
  for (const FieldDecl *Field : Record.fields())
    append(All, flattenField(*Field, Offset + offsetOf(Layout, *Field), Prefix, &Here));
  return layInnerOver(*this, std::move(All),
                      {Offset + bytes(Layout.getSize()), bytes(Layout.getAlignment())});
}

Words Flattener::flattenUnion(const RecordDecl &Union, uint64_t Offset, const std::string &Prefix,
                              const Scope *Around) const {
  Scope Here{&Union, Offset, Around};
  const ASTRecordLayout &Layout = Context.getASTRecordLayout(&Union);
  Extent Whole{Offset + bytes(Layout.getSize()), bytes(Layout.getAlignment())};
  UnionWords Found;
  VolatileBytes Volatile;
  std::vector<std::pair<uint64_t, VolatileBytes>> OfMembers; // with their sizes
  Words All;
  size_t Members = 0;
  for (const FieldDecl *Field : Union.fields()) {
    ++Members;
    auto &[Size, Own] = OfMembers.emplace_back(sizeOf(*Field), VolatileBytes());
    for (const Word &W : flattenField(*Field, Offset, Prefix, &Here)) {
      if (W.IsLock) {
        // What another member has there counts.
      } else if (W.Layout.Kind == NVM_FIELD_VOLATILE) {
        Own.add(W);
        Volatile.add(W);
      } else if (W.isTail()) {
        Size = Whole.End - Offset;
        Found.addBelow(W, elements(W), Whole.End, Members);
        append(All, spill(*this, W, Whole));
      } else {
        Found.add(W, Members);
      }
    }
  }
  for (const auto &[Place, What] : Found.at()) {
    Volatile.remove(Place, sizeof(void *));
    append(All, decide(What.Alternatives, What.Members.size() == Members, Place));
  }
  for (const auto &[Size, Own] : OfMembers)
    Volatile.meet(Offset, Size, Own);
  for (auto [Place, Count] : Volatile.ranges())
    All.push_back(volatileBytes(Prefix, Place, Count));
  return All;
}

Words Flattener::decide(const Words &Alternatives, bool InAll, uint64_t Place) const {
  const Word &First = Alternatives.front();
  bool Same = InAll, Told = true;
  for (const Word &Other : Alternatives) {
    if (Other.tellsItself())
      return {Other};
    Same &= Other.Layout.Kind == First.Layout.Kind && Other.Target == First.Target &&
            Other.Layout.Tag == First.Layout.Tag && !Other.Layout.When;
    Told &= Other.Layout.When.has_value();
  }
  if (Told)
    return Alternatives;
  return {Same ? First : word(First.Layout.Name, Place, NVM_FIELD_UNION, QualType())};
}

} // namespace nvmove::plugin
