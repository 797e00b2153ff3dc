// Where the pointers of a type are: see Layouts.h.
#include "Layouts.h"

#include "Deciders.h"
#include "Members.h"

#include "nvmove/abi.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/RecordLayout.h"
#include "llvm/Support/xxhash.h"

#include <map>

using namespace clang;

namespace nvmove::plugin {
namespace {

/// A field before the ids of what fields point to are known.
struct Word {
  FieldLayout Layout;
  QualType Target; ///< canonical; null: none
};
using Words = std::vector<Word>;

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

class Flattener {
public:
  explicit Flattener(ASTContext &Context) : Context(Context) {}

  /// The words of \p T at \p Offset; \p Kind is what a pointer found there is.
  Words flatten(QualType T, uint64_t Offset, const std::string &Name,
                uint32_t Kind = NVM_FIELD_POINTER, const Scope *Around = nullptr) const {
    T = T.getCanonicalType();
    if (auto *Atomic = T->getAs<AtomicType>())
      T = Atomic->getValueType().getCanonicalType();
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
    if (auto *Array = Context.getAsConstantArrayType(T))
      return repeat(Array->getElementType(), Array->getSize().getZExtValue(), Offset, Name, Kind,
                    Around);
    if (auto *Record = T->getAsRecordDecl())
      return Record->isUnion() ? flattenUnion(*Record, Offset, Name, Around)
                               : flattenWhole(*Record, Offset, Name, Around);
    return {};
  }

  /// What lies behind a record of \p Size bytes, and is plain bytes.
  Word tail(uint64_t Size) const {
    Word W = word("(bytes)", Size, NVM_FIELD_FLEXIBLE_ARRAY, Context.CharTy);
    W.Layout.Stride = 1;
    W.Layout.Count = 0;
    return W;
  }

private:
  uint64_t bytes(CharUnits Units) const { return static_cast<uint64_t>(Units.getQuantity()); }
  uint64_t sizeOf(QualType T) const { return bytes(Context.getTypeSizeInChars(T)); }

  Word word(const std::string &Name, uint64_t Offset, uint32_t Kind, QualType Target) const {
    Word W;
    W.Layout.Name = Name;
    W.Layout.Offset = static_cast<uint32_t>(Offset);
    W.Layout.Stride = sizeof(void *);
    W.Layout.Kind = Kind;
    W.Target = Target;
    return W;
  }

  /// The same word in element \p N; the member that decides about it may lie in the element.
  static Word moved(Word W, uint64_t By, uint64_t From, uint64_t Size) {
    W.Layout.Offset += static_cast<uint32_t>(By);
    if (auto &When = W.Layout.When; When && When->Offset >= From && When->Offset < From + Size)
      When->Offset += static_cast<uint32_t>(By);
    return W;
  }

  Words repeat(QualType Element, uint64_t Count, uint64_t Offset, const std::string &Name,
               uint32_t Kind, const Scope *Around) const {
    Words Each = flatten(Element, Offset, Name, Kind, Around), All;
    uint64_t Size = Each.empty() ? 0 : sizeOf(Element);
    for (Word &W : Each) {
      FieldLayout &L = W.Layout;
      bool Inside = L.When && L.When->Offset >= Offset && L.When->Offset < Offset + Size;
      bool Settled = L.When && L.When->Follows != Inside; // decided elsewhere than its neighbours
      if (L.Count == 1) {
        L.Stride = static_cast<uint32_t>(Size);
        L.Count = static_cast<uint32_t>(Count);
        if (L.When)
          L.When->Follows = Inside;
        All.push_back(W);
      } else if (uint64_t(L.Count) * L.Stride == Size && !Settled) {
        L.Count *= static_cast<uint32_t>(Count); // an array of arrays without a gap
        All.push_back(W);
      } else {
        for (uint64_t N = 0; N < Count; ++N)
          All.push_back(moved(W, N * Size, Offset, Size));
      }
    }
    if (Count == 0)
      All.clear();
    return All;
  }

  static void append(Words &To, Words From) {
    std::move(From.begin(), From.end(), std::back_inserter(To));
  }

  /// An integer that its mark declares to hold an address.
  Words flattenNumber(const FieldDecl &Field, uint64_t Offset, const std::string &Name,
                      uint32_t Kind) const {
    QualType T = Field.getType(), Element = Context.getBaseElementType(T);
    if (!Element->isIntegralOrEnumerationType() || sizeOf(Element) != sizeof(void *))
      return {};
    Word W = word(Name, Offset, Kind, QualType());
    W.Layout.Count = static_cast<uint32_t>(sizeOf(T) / sizeof(void *));
    return {W};
  }

  /// A volatile bit-field that fills its bytes; \p Offset is that of its first bit's byte.
  Words flattenBits(const FieldDecl &Field, uint64_t Offset, const std::string &Prefix) const {
    const ASTRecordLayout &Layout = Context.getASTRecordLayout(Field.getParent());
    uint64_t Bits = Field.getBitWidthValue(Context);
    if (!annotation(Field, "nvmove.volatile") || Bits == 0 || Bits % 8 != 0 ||
        Layout.getFieldOffset(Field.getFieldIndex()) % 8 != 0)
      return {};
    Word W = word(Prefix + (Prefix.empty() ? "" : ".") + Field.getName().str(), Offset,
                  NVM_FIELD_VOLATILE, QualType());
    W.Layout.Stride = 1;
    W.Layout.Count = static_cast<uint32_t>(Bits / 8);
    return {W};
  }

  Words flattenField(const FieldDecl &Field, uint64_t Offset, const std::string &Prefix,
                     const Scope *Around) const {
    if (Field.isBitField())
      return flattenBits(Field, Offset, Prefix);
    std::string Name = Prefix;
    if (!Field.getName().empty())
      Name += (Prefix.empty() ? "" : ".") + Field.getName().str();
    auto *Constant = Context.getAsConstantArrayType(Field.getType());
    if (Field.getType()->isIncompleteArrayType() || (Constant && Constant->getSize().isZero())) {
      QualType Element =
          Context.getAsArrayType(Field.getType())->getElementType().getCanonicalType();
      Word W = word(Name, Offset, NVM_FIELD_FLEXIBLE_ARRAY, Element);
      W.Layout.Stride = static_cast<uint32_t>(sizeOf(Element));
      W.Layout.Count = 0;
      return {W};
    }
    if (annotation(Field, "nvmove.volatile")) {
      Word W = word(Name, Offset, NVM_FIELD_VOLATILE, QualType());
      W.Layout.Stride = 1;
      W.Layout.Count = static_cast<uint32_t>(sizeOf(Field.getType()));
      return {W};
    }
    uint32_t Kind = annotatedKind(Field);
    Words All = flatten(Field.getType(), Offset, Name, Kind ? Kind : NVM_FIELD_POINTER, Around);
    if (Kind && All.empty())
      All = flattenNumber(Field, Offset, Name, Kind);
    uint64_t Tag = annotatedTag(Context, Field);
    std::optional<WhenLayout> When = annotatedWhen(Context, Field, Around);
    for (Word &W : All) {
      W.Layout.Tag |= Tag;
      if (When)
        W.Layout.When = When;
    }
    return All;
  }

  /// A record that is no base of another: it has its virtual bases, direct and indirect, behind it.
  /// One of them may lie where the record itself starts and share its pointer to a vtable.
  Words flattenWhole(const RecordDecl &Record, uint64_t Offset, const std::string &Prefix,
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
  Words flattenRecord(const RecordDecl &Record, uint64_t Offset, const std::string &Prefix,
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
    return All;
  }

  uint64_t offsetOf(const ASTRecordLayout &Layout, const FieldDecl &Field) const {
    return bytes(Context.toCharUnitsFromBits(
        static_cast<int64_t>(Layout.getFieldOffset(Field.getFieldIndex()))));
  }

  Words flattenUnion(const RecordDecl &Union, uint64_t Offset, const std::string &Prefix,
                     const Scope *Around) const {
    Scope Here{&Union, Offset, Around};
    std::map<uint32_t, Words> At; // the words of all members, by offset
    size_t Members = 0;
    for (const FieldDecl *Field : Union.fields()) {
      ++Members;
      for (const Word &W : flattenField(*Field, Offset, Prefix, &Here)) {
        Word One = W;
        One.Layout.Count = std::min(W.Layout.Count, uint32_t(1));
        for (uint32_t N = 0; N < std::max(W.Layout.Count, uint32_t(1)); ++N) {
          At[One.Layout.Offset].push_back(One);
          One.Layout.Offset += W.Layout.Stride;
          if (One.Layout.When && One.Layout.When->Follows)
            One.Layout.When->Offset += W.Layout.Stride;
        }
      }
    }
    Words All;
    for (auto &[Place, Alternatives] : At)
      append(All, decide(Alternatives, Members, Place));
    return All;
  }

  /// What the word at \p Place of a union is, from what it is in the members that have one there.
  Words decide(const Words &Alternatives, size_t Members, uint32_t Place) const {
    const Word &First = Alternatives.front();
    bool Same = Alternatives.size() == Members, Told = true;
    for (const Word &Other : Alternatives) {
      if (Other.Layout.Kind == NVM_FIELD_EITHER || Other.Layout.Kind == NVM_FIELD_ADDRESS)
        return {Other}; // says it of the value, whoever wrote it
      Same &= Other.Layout.Kind == First.Layout.Kind && Other.Target == First.Target &&
              Other.Layout.Tag == First.Layout.Tag && !Other.Layout.When;
      Told &= Other.Layout.When.has_value();
    }
    if (Told)
      return Alternatives;
    return {Same ? First : word(First.Layout.Name, Place, NVM_FIELD_UNION, QualType())};
  }

  ASTContext &Context;
};

/// An array of no elements inside a record is a mark: what it would have is described by what lies
/// there. Only at the end elements follow.
void dropInnerArrays(Words &All, const TypeLayout &Type) {
  uint64_t Last = 0;
  for (const Word &W : All)
    if (W.Layout.Kind != NVM_FIELD_FLEXIBLE_ARRAY)
      Last = std::max<uint64_t>(Last, W.Layout.Offset + 1);
  llvm::erase_if(All, [&](const Word &W) {
    uint64_t Offset = W.Layout.Offset;
    return W.Layout.Kind == NVM_FIELD_FLEXIBLE_ARRAY &&
           (Offset + Type.Alignment <= Type.Size || Offset < Last);
  });
}

} // namespace

LayoutBuilder::LayoutBuilder(ASTContext &Context) : Context(Context), Names(Context.getLangOpts()) {
  Names.AnonymousTagLocations = false;
}

uint64_t LayoutBuilder::describe(QualType T) { return add(T, false); }

uint64_t LayoutBuilder::describeWithTail(QualType T) {
  const auto *Record = T->getAsRecordDecl();
  return add(T, !Record || !Record->hasFlexibleArrayMember());
}

bool LayoutBuilder::holdsPointers(QualType T) const {
  return !T->isIncompleteType() &&
         llvm::any_of(Flattener(Context).flatten(T, 0, ""), [&](const Word &W) {
           bool Elements = W.Layout.Kind == NVM_FIELD_FLEXIBLE_ARRAY;
           return Elements ? holdsPointers(W.Target) : W.Layout.Kind != NVM_FIELD_VOLATILE;
         });
}

uint64_t LayoutBuilder::add(QualType T, bool Tail) {
  T = T.getCanonicalType().getUnqualifiedType();
  auto &Known = Tail ? IdsWithTail : Ids;
  if (auto [At, New] = Known.try_emplace(T.getAsOpaquePtr(), 0); !New)
    return At->second;
  TypeLayout Made;
  Made.Name = T.getAsString(Names) + (Tail ? " and bytes" : "");
  Made.Size = static_cast<uint64_t>(Context.getTypeSizeInChars(T).getQuantity());
  Made.Alignment = static_cast<uint32_t>(Context.getTypeAlignInChars(T).getQuantity());
  Made.Members = memberLines(Context, T);
  Flattener Flatten(Context);
  Words All = Flatten.flatten(T, 0, "");
  dropInnerArrays(All, Made);
  if (Tail)
    All.push_back(Flatten.tail(Made.Size));
  // The id covers the names of what fields point to, not their ids: types may point to each other.
  std::string Shape;
  llvm::raw_string_ostream OS(Shape);
  OS << Made.Name << '|' << Made.Size << '|' << Made.Alignment << '|' << Made.Members;
  for (const Word &W : All) {
    const FieldLayout &L = W.Layout;
    OS << '|' << L.Name << ',' << L.Offset << ',' << L.Count << ',' << L.Stride << ',' << L.Kind
       << ',' << L.Tag << ',' << (W.Target.isNull() ? "" : W.Target.getAsString(Names));
    if (L.When)
      writeWhen(OS, *L.When);
  }
  // Never 0, which means "not known", and positive as Breeze's type identifiers are.
  Made.Id = (llvm::xxh3_64bits(Shape) & INT64_MAX) | 1;
  uint64_t Id = Known[T.getAsOpaquePtr()] = Made.Id;
  Targets.emplace_back();
  for (const Word &W : All) {
    Made.Fields.push_back(W.Layout);
    Targets.back().push_back(W.Target);
  }
  Types.push_back(std::move(Made));
  return Id;
}

std::vector<TypeLayout> LayoutBuilder::finish() {
  for (size_t T = 0; T < Types.size(); ++T) // describe() may add types
    for (size_t F = 0; F < Targets[T].size(); ++F) {
      QualType Target = Targets[T][F];
      if (!Target.isNull() && !Target->isIncompleteType() && !Target->isFunctionType()) {
        uint64_t Id = describe(Target);
        Types[T].Fields[F].Target = Id;
      }
    }
  return std::move(Types);
}

} // namespace nvmove::plugin
