// Matching the members of two layouts: see Plan.h.
#include "pool/Plan.h"

#include "pool/Changes.h"
#include "pool/PlanWords.h"
#include "support/Failed.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

namespace nvmove::pool {

using support::failed;

namespace {

using llvm::StringRef;

/// A number of which each value can be read; of the widest integers only where both are the same.
bool isNumber(const Member &M) {
  return M.Kind == "float" || (isInteger(M.Kind) && (M.Bits || M.Size <= sizeof(uint64_t)));
}

/// One kind of number becomes another one: wider, or narrower as long as each value fits.
bool isConverted(const Member &From, const Member &To) {
  bool IsWidest = isInteger(From.Kind) && isInteger(To.Kind) && To.Size <= sizeof(__int128);
  return isNumber(From) && (isNumber(To) || IsWidest);
}

/// The same bytes in both, at whatever place.
bool isSame(const MemberPair &P) {
  const Member &A = P.From, &B = P.To;
  return A.Kind == B.Kind && A.Size == B.Size && A.Bits == B.Bits && A.FirstBit == B.FirstBit &&
         A.Dimensions == B.Dimensions && llvm::all_of(P.Inner, [](const MemberPair &Q) {
           return isSame(Q) && Q.From.Offset == Q.To.Offset;
         });
}

/// Of arrays without elements at one place one may be that at the end.
bool overlap(const Member &A, const Member &B) {
  bool AreTails = A.IsArray && B.IsArray && !A.Count && !B.Count && A.Offset == B.Offset;
  return AreTails || (firstBit(A) < endBit(B) && firstBit(B) < endBit(A));
}

class Matcher {
public:
  Matcher(TypePlan &Plan, Changes &Map, const FieldMap &Types, const WordMatcher &Words)
      : Plan(Plan), Map(Map), Types(Types), Words(Words) {}

  std::vector<MemberPair> match(const Level &Old, const Level &New,
                                std::vector<Constant> &Constants) {
    std::vector<MemberPair> Pairs;
    std::vector<bool> Used(Old.Members.size());
    for (const Member &To : New.Members) {
      std::string Name = New.Prefix + To.Name;
      std::optional<Changes::Said> Said = Map.of(To, New, Old);
      if (Said && Said->Was.empty()) {
        addConstant(To, Name, Said->Value, Constants);
        continue;
      }
      std::string Was = Said ? Said->Was : Old.Prefix + To.Name;
      auto From = find(Old, Was, To, New);
      if (From == Old.Members.end()) {
        if (Said && Said->IsOwn)
          wrong("field " + Was + " (of " + Name + ") is not in the pool's");
        else if (To.Kind == "vtable")
          wrong("it has virtual functions in the program's only");
        else
          Plan.Notes.push_back("field " + Name + " is new, and zero");
        continue;
      }
      if (Used[size_t(From - Old.Members.begin())])
        wrong("field " + Was + " becomes two fields");
      Used[size_t(From - Old.Members.begin())] = true;
      MemberPair Made;
      Made.From = *From, Made.To = To, Made.Name = Name;
      Made.MayCut = Map.isCut(To, New);
      pair(Pairs, std::move(Made), Old, New);
    }
    refuseUnions(Pairs);
    refuseMovedTables(Pairs, Old, New);
    refuseSharedConstants(New, Constants);
    for (auto [N, M] : llvm::enumerate(Old.Members))
      if (!Used[N])
        giveUp(M, Old);
    return Pairs;
  }

  /// What is still to be decided. Each field has its successor by now, so the fields that decide about
  /// pointers have theirs, too.
  std::string finish() {
    for (const Leaf &L : Leaves)
      if (std::string Why = Words.mismatch(L.From, L.To, Successors); !Why.empty())
        wrong("field " + L.Name + " " + Why);
    if (std::string Said = Map.unheard(); !Said.empty())
      wrong(Said);
    return Wrong;
  }

private:
  void wrong(const std::string &What) { Wrong += (Wrong.empty() ? "" : "; ") + What; }

  using Found = std::vector<Member>::const_iterator;

  /// Classes may have members of one name: those of base classes and their own.
  Found find(const Level &In, const std::string &Name, const Member &To, const Level &New) {
    std::vector<Found> All;
    for (auto At = In.Members.begin(); At != In.Members.end(); ++At)
      if (In.Prefix + At->Name == Name)
        All.push_back(At);
    auto IsNamesake = [&](const Member &M) { return M.Name == To.Name; };
    if (All.size() == 1 && llvm::count_if(New.Members, IsNamesake) == 1)
      return All.front();
    std::string Owner = ownerOf(To, New, Types, /*IsNew=*/true);
    auto Own = llvm::find_if(
        All, [&](Found At) { return ownerOf(*At, In, Types, /*IsNew=*/false) == Owner; });
    return Own == All.end() ? In.Members.end() : *Own;
  }

  void giveUp(const Member &M, const Level &Old) {
    std::string Name = Old.Prefix + M.Name;
    if (Map.isGivenUp(M, Old))
      Plan.Notes.push_back("field " + Name + " is given up");
    else if (M.Name == "(rest)")
      wrong("its blocks have more behind the record in the pool, and the program allocates none "
            "that do");
    else
      wrong("field " + Name + " is only in the pool's ('drop' gives it up, 'was' renames it)");
  }

  /// Members of a union share bytes. Which of them has a value only the program knows: so all of them have
  /// to stay what they are.
  void refuseUnions(const std::vector<MemberPair> &Pairs) {
    for (size_t I = 0; I < Pairs.size(); ++I)
      for (size_t J = I + 1; J < Pairs.size(); ++J) {
        const MemberPair &P = Pairs[I], &Q = Pairs[J];
        bool Shares = overlap(P.From, Q.From) || overlap(P.To, Q.To);
        bool Together = P.To.Offset - P.From.Offset == Q.To.Offset - Q.From.Offset;
        if (Shares && !(Together && isSame(P) && isSame(Q)))
          wrong("fields " + P.Name + " and " + Q.Name +
                " share bytes, as members of a union, and have changed");
      }
  }

  /// The tables of virtual functions of a class lie behind each other, in the order of the base classes that have
  /// them: an object leads to one of them by its number.
  void refuseMovedTables(const std::vector<MemberPair> &Pairs, const Level &Old, const Level &New) {
    auto NumberOf = [](const Member &M, const Level &In) {
      return llvm::count_if(In.Members, [&](const Member &Other) {
        return Other.Kind == M.Kind && Other.Name == M.Name && Other.Offset < M.Offset;
      });
    };
    for (const MemberPair &P : Pairs)
      if (P.From.Kind == "vtable" && NumberOf(P.From, Old) != NumberOf(P.To, New))
        wrong("field " + P.Name +
              " leads to another table of virtual functions: base classes "
              "that have some stand in another order");
  }

  /// A value must not take the place of what another member has.
  void refuseSharedConstants(const Level &New, const std::vector<Constant> &Constants) {
    for (const Constant &C : Constants)
      for (const Member &M : New.Members)
        if (M.Name != C.To.Name && overlap(M, C.To))
          wrong("field " + C.To.Name + " shares bytes with " + M.Name +
                ", a value cannot be given to it");
  }

  void addConstant(const Member &To, const std::string &Name, int64_t Value,
                   std::vector<Constant> &Constants) {
    std::vector<char> Space(To.Offset + To.Size);
    if (To.IsArray || !isInteger(To.Kind))
      wrong("field " + Name + " is no integer, a value cannot be given to it");
    else if (!storeInteger(To, Space.data(), Value))
      wrong("field " + Name + " cannot hold " + std::to_string(Value));
    else
      Constants.push_back({To, Value});
    Plan.Notes.push_back("field " + Name + " is new, and " + std::to_string(Value));
  }

  void pair(std::vector<MemberPair> &Pairs, MemberPair Made, const Level &Old, const Level &New) {
    const Member &From = Made.From, &To = Made.To;
    if (From.IsArray != To.IsArray || From.IsTail != To.IsTail) {
      wrong("field " + Made.Name + " is an array in one of them");
      return;
    }
    if (From.Dimensions.size() != To.Dimensions.size() ||
        (From.IsTail && From.Dimensions != To.Dimensions)) {
      wrong("field " + Made.Name + " is an array of other dimensions");
      return;
    }
    Made.HasInner = !From.Inner.empty() && !To.Inner.empty();
    Made.IsSameType = Types.wasCalled(To.Type) == From.Type;
    if (!Made.MayCut)
      Successors[Old.Prefix + From.Name] = Made.Name;
    if (Made.HasInner)
      pairElements(Made, Old, New);
    else
      pairValues(Made, Old, New);
    Pairs.push_back(std::move(Made));
  }

  void pairElements(MemberPair &Made, const Level &Old, const Level &New) {
    const Member &From = Made.From, &To = Made.To;
    Level Was = elementsOf(From, Old), Is = elementsOf(To, New);
    Made.Inner = match(Was, Is, Made.Constants);
    Made.Parts = pairParts(Was, Is, Made.Inner, Types);
  }

  void pairValues(const MemberPair &Made, const Level &Old, const Level &New) {
    const Member &From = Made.From, &To = Made.To;
    Leaves.push_back({Old.Base + From.Offset, New.Base + To.Offset, Made.Name});
    bool IsWord = Words.isWord(Old.Base + From.Offset);
    if (From.Bits > 64 || To.Bits > 64)
      wrong("field " + Made.Name +
            " is a bit-field of more than 64 bits; such a type cannot change");
    else if (isConverted(From, To) && !(IsWord && From.Size != To.Size))
      ;
    else if (From.Kind == "pointer" ? To.Kind != "pointer" && To.Kind != "union"
                                    : From.Kind != To.Kind || From.Bits || To.Bits)
      wrong("field " + Made.Name + " is " + From.Kind + " in the pool's, " + To.Kind +
            " in the program's");
    else if (From.Size != To.Size)
      wrong("field " + Made.Name + " has " + std::to_string(From.Size) + " bytes in the pool's, " +
            std::to_string(To.Size) + " in the program's");
  }

  struct Leaf {
    uint64_t From, To; ///< bytes from the start of the type
    std::string Name;
  };

  TypePlan &Plan;
  Changes &Map;
  const FieldMap &Types;
  const WordMatcher &Words;
  std::vector<Leaf> Leaves;
  std::map<std::string, std::string>
      Successors; ///< of each field of the pool, but for those that may be cut
  std::string Wrong;
};

} // namespace

namespace {

bool hasMoreBehind(const nvm_type &Type) { return recordOf(Type.name) != Type.name; }

/// Where the last member ends: bytes.
uint64_t endOf(const Record &Shape) {
  uint64_t End = 0;
  for (const Member &M : Shape.Members)
    End = std::max(End, (endBit(M) + 7) / 8);
  return End;
}

/// Bytes that fill the record up.
uint64_t paddingOf(const nvm_type &Type) { return Type.size - endOf(parseRecord(Type.members)); }

/// The member that a block may go on behind its record: an array at the end of it; null: there is none.
Member *lastArray(Record &Shape) {
  Member *Last = Shape.Members.empty() ? nullptr : &Shape.Members.back();
  bool IsLast = Last && Last->IsArray && llvm::none_of(Shape.Members, [&](const Member &M) {
                  return &M != Last && endBit(M) > firstBit(*Last);
                });
  return IsLast ? Last : nullptr;
}

Member bytesAt(const char *Name, uint64_t Offset, uint64_t Size, uint64_t Count) {
  Member Made;
  Made.Name = Name;
  Made.Kind = Size == 1 ? "uchar" : "unsigned";
  Made.Offset = Offset, Made.Size = Size, Made.Count = Count;
  Made.IsArray = true;
  Made.IsTail = !Count;
  Made.Dimensions = {Count};
  return Made;
}

/// What a block has behind its record, of which the members say nothing, is an array at the end of it, too. An array
/// of one element there is one that goes on. \p KeepsPadding: the bytes that fill the record up belong to what is
/// behind: both layouts have as many.
Record shapeOf(const nvm_type &Type, TypeChange::Behind More, bool KeepsPadding) {
  Record Shape = parseRecord(Type.members);
  if (!hasMoreBehind(Type) || (!Shape.Members.empty() && Shape.Members.back().IsTail))
    return Shape;
  Member *Last = lastArray(Shape);
  if (Last && (More == TypeChange::OfArray ||
               (More == TypeChange::Open && Last->Dimensions.front() == 1))) {
    Last->IsTail = true;
    Last->Count = 0;
    Last->Dimensions.front() = 0;
    return Shape;
  }
  for (const nvm_field &F : llvm::ArrayRef(Type.fields, Type.field_count)) {
    if (F.kind != NVM_FIELD_FLEXIBLE_ARRAY)
      continue;
    uint64_t End = KeepsPadding ? endOf(Shape) : Type.size; // words are aligned
    if (F.offset != End)
      Shape.Members.push_back(bytesAt("(gap)", End, 1, F.offset - End));
    Shape.Members.push_back(bytesAt("(rest)", F.offset, F.stride, 0));
  }
  return Shape;
}

/// What is behind the record may be the rest of its last array, or begin in the bytes that fill the record up. Empty:
/// it is right either way, or its bytes tell.
std::string checkBehind(TypePlan &Plan, TypeChange::Behind More) {
  Record From = parseRecord(Plan.Old->members);
  uint64_t Then = paddingOf(*Plan.Old), Now = paddingOf(*Plan.New);
  if (More == TypeChange::OfArray && !lastArray(From))
    return "its last member is no array that goes on behind it ('behind: array')";
  if (More != TypeChange::Open || Then == Now)
    return "";
  if (!Then && lastArray(From))
    return "what blocks have behind it may be the rest of field " + lastArray(From)->Name +
           " ('behind: array' in the map) or not ('behind: record')";
  Plan.PaddingFrom = Plan.Old->size - Then, Plan.PaddingSize = Then;
  return "";
}

} // namespace

llvm::Expected<TypePlan> planType(const nvm_type &Old, const nvm_type &New, const FieldMap &Map,
                                  const Types &All, std::set<const FieldChange *> &Used) {
  TypePlan Plan;
  Plan.Old = &Old;
  Plan.New = &New;
  Plan.IsSame = Old.id == New.id;
  const TypeChange *Own = Map.findWas(Old.name);
  TypeChange::Behind More = Own ? Own->More : TypeChange::Open;
  bool KeepsPadding = paddingOf(Old) == paddingOf(New);
  Record From = shapeOf(Old, More, KeepsPadding), To = shapeOf(New, More, KeepsPadding);
  if (!Plan.IsSame && (!From.IsWhole || !To.IsWhole))
    return failed(llvm::Twine(New.name) + ": its layout was written by another version of nvmove");
  Level Was{From.Members, From.Parts, Old.name, 0, ""}, Is{To.Members, To.Parts, New.name, 0, ""};
  const FieldMap NoMap;
  const FieldMap &Said = Plan.IsSame ? NoMap : Map;
  Changes OfMembers(Plan.IsSame ? nullptr : Own, Said, Used);
  WordMatcher Words({Old, From}, {New, To}, All);
  Matcher Match(Plan, OfMembers, Said, Words);
  Plan.Pairs = Match.match(Was, Is, Plan.Constants);
  Plan.Parts = pairParts(Was, Is, Plan.Pairs, Said);
  auto IsTail = [](const Record &R) { return !R.Members.empty() && R.Members.back().IsTail; };
  Plan.HasTail = !Plan.Pairs.empty() && Plan.Pairs.back().From.IsTail;
  Plan.EndsInArray = IsTail(From);
  if (Plan.IsSame)
    return Plan;
  std::string Wrong = Match.finish();
  if (Wrong.empty() && IsTail(From) != IsTail(To))
    Wrong = "only one of them ends in a flexible array, or has more behind it";
  bool HasRest = IsTail(From) && From.Members.back().Name == "(rest)";
  if (Wrong.empty() && HasRest &&
      From.Members.back().Offset - Old.size != To.Members.back().Offset - New.size)
    Wrong = "what blocks have behind it would not be aligned as it was";
  if (!HasRest && IsTail(From) && hasMoreBehind(Old) && More == TypeChange::Open) {
    Plan.PaddingFrom = Old.size - paddingOf(Old), Plan.PaddingSize = paddingOf(Old);
    Plan.GoesOn = true;
  }
  if (Wrong.empty() && (HasRest || More == TypeChange::OfArray))
    Wrong = checkBehind(Plan, More);
  if (!Wrong.empty())
    return failed(llvm::Twine(New.name) + ": " + Wrong);
  return Plan;
}

std::optional<Member> scalarOf(const nvm_type &Type) {
  std::vector<Member> Members = parseRecord(Type.members).Members;
  bool IsScalar = Members.size() == 1 && Members[0].Name.empty() && Members[0].Type.empty();
  return IsScalar ? std::optional(Members[0]) : std::nullopt;
}

std::string elementOf(const nvm_type &Type) {
  std::vector<Member> Members = parseRecord(Type.members).Members;
  bool IsArray = Members.size() == 1 && Members[0].Name.empty() && !Members[0].Type.empty();
  return IsArray ? Members[0].Type : Type.name;
}

std::optional<uint64_t> elementIn(const Member &From, const Member &To, uint64_t N) {
  uint64_t There = 0, Row = 1; // elements of what the index is one of
  for (size_t D = From.Dimensions.size(); D-- > 0;) {
    uint64_t Index = D ? N % From.Dimensions[D] : N;
    N = D ? N / From.Dimensions[D] : 0;
    bool IsTail = !D && !To.Dimensions[D];
    if (!IsTail && Index >= To.Dimensions[D])
      return std::nullopt;
    There += Index * Row;
    Row *= To.Dimensions[D];
  }
  return There;
}

} // namespace nvmove::pool
