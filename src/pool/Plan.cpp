// Matching the members of two layouts: see Plan.h.
#include "pool/Plan.h"

#include "pool/PlanWords.h"
#include "support/Failed.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

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

/// What the part is called in the program: the map may have renamed all its members. Empty: they went apart.
std::string nowCalled(const Part &Was, const std::vector<MemberPair> &Pairs) {
  std::optional<std::string> Now;
  for (const MemberPair &P : Pairs) {
    StringRef Old = P.From.Name, New = P.To.Name;
    if (!Old.consume_front(Was.Name + ".") || !New.consume_back(("." + Old).str()))
      continue;
    if (Now && *Now != New)
      return "";
    Now = New.str();
  }
  return Now.value_or(Was.Name);
}

std::vector<PartPair> pairParts(const std::vector<Part> &Old, const std::vector<Part> &New,
                                const std::vector<MemberPair> &Members) {
  std::vector<PartPair> Pairs;
  for (const Part &Was : Old) {
    std::string Name = Was.IsBase ? Was.Name : nowCalled(Was, Members);
    auto Is = llvm::find_if(New, [&](const Part &P) {
      return P.IsBase == Was.IsBase && P.Name == Name && (!Was.IsBase || P.Type == Was.Type);
    });
    Pairs.push_back(
        {Was.Type, Was.Offset, Is == New.end() ? std::nullopt : std::optional(Is->Offset)});
  }
  return Pairs;
}

/// The base class that a member belongs to; empty: none, the record itself has it.
std::string ownerOf(const Member &M, const std::vector<Part> &Parts) {
  const Part *Owner = nullptr;
  for (const Part &P : Parts)
    if (P.IsBase && M.Offset >= P.Offset && M.Offset - P.Offset < P.Size &&
        (!Owner || P.Size < Owner->Size))
      Owner = &P;
  return Owner ? Owner->Type : "";
}

/// The same bytes in both, at whatever place.
bool isSame(const MemberPair &P) {
  const Member &A = P.From, &B = P.To;
  return A.Kind == B.Kind && A.Size == B.Size && A.Bits == B.Bits && A.FirstBit == B.FirstBit &&
         A.Dimensions == B.Dimensions && llvm::all_of(P.Inner, [](const MemberPair &Q) {
           return isSame(Q) && Q.From.Offset == Q.To.Offset;
         });
}

bool overlap(const Member &A, const Member &B) {
  return firstBit(A) < endBit(B) && firstBit(B) < endBit(A);
}

class Matcher {
public:
  Matcher(TypePlan &Plan, const TypeChange &Change, const WordMatcher &Words, const Types &All)
      : Plan(Plan), Change(Change), Words(Words), All(All) {}

  struct Place {
    const std::vector<Member> &Members;
    const std::vector<Part> &Parts;
    uint64_t Base;      ///< of the record around, in the type
    std::string Prefix; ///< "pairs[]."
  };

  std::vector<MemberPair> match(const Place &Old, const Place &New,
                                std::vector<Constant> &Constants) {
    std::vector<MemberPair> Pairs;
    std::vector<bool> Used(Old.Members.size());
    for (const Member &To : New.Members) {
      std::string Name = New.Prefix + To.Name;
      const FieldChange *Field = changeOf(Name);
      if (Field && Field->Was.empty()) {
        addConstant(To, Name, Field->Value, Constants);
        continue;
      }
      std::string Was = Field ? Field->Was : Old.Prefix + To.Name;
      auto From = find(Old, Was, Field ? "" : ownerOf(To, New.Parts));
      if (From == Old.Members.end()) {
        if (Field)
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
      pair(Pairs, {*From, To, Name, isCut(Name), {}, {}, {}}, Old, New);
    }
    refuseUnions(Pairs);
    refuseSharedConstants(New, Constants);
    for (auto [N, M] : llvm::enumerate(Old.Members))
      if (std::string Name = Old.Prefix + M.Name; !Used[N])
        giveUp(Name);
    return Pairs;
  }

  /// What is still to be decided, and names of the map that were not found.
  std::string finish() {
    for (const FieldChange &F : Change.Fields)
      if (!llvm::is_contained(Seen, F.Name))
        wrong("the map's field " + F.Name + " is not in the program's");
    for (const auto *List : {&Change.Drop, &Change.Cut})
      for (const std::string &Name : *List)
        if (!llvm::is_contained(Seen, Name))
          wrong("the map's field " + Name + " is in neither");
    for (const std::string &Name : Change.Drop)
      if (llvm::is_contained(Seen, Name) && !llvm::is_contained(GivenUp, Name))
        wrong("the map gives up field " + Name + ", which the program has, too");
    return Wrong;
  }

private:
  void wrong(const std::string &What) { Wrong += (Wrong.empty() ? "" : "; ") + What; }

  using Found = std::vector<Member>::const_iterator;

  /// Classes may have members of one name: those of a base class and its own.
  Found find(const Place &In, const std::string &Name, const std::string &Owner) {
    std::vector<Found> All;
    for (auto At = In.Members.begin(); At != In.Members.end(); ++At)
      if (In.Prefix + At->Name == Name)
        All.push_back(At);
    if (All.size() < 2)
      return All.empty() ? In.Members.end() : All.front();
    auto Own = llvm::find_if(All, [&](Found At) { return ownerOf(*At, In.Parts) == Owner; });
    return Own == All.end() ? In.Members.end() : *Own;
  }

  const FieldChange *changeOf(const std::string &Name) {
    Seen.push_back(Name);
    for (const FieldChange &F : Change.Fields)
      if (F.Name == Name)
        return &F;
    return nullptr;
  }

  bool isCut(const std::string &Name) const { return llvm::is_contained(Change.Cut, Name); }

  void giveUp(const std::string &Name) {
    Seen.push_back(Name);
    GivenUp.push_back(Name);
    if (llvm::is_contained(Change.Drop, Name))
      Plan.Notes.push_back("field " + Name + " is given up");
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

  /// A value must not take the place of what another member has.
  void refuseSharedConstants(const Place &New, const std::vector<Constant> &Constants) {
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

  void pair(std::vector<MemberPair> &Pairs, MemberPair Made, const Place &Old, const Place &New) {
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
    if (Made.HasInner) {
      Made.Inner = match(
          {From.Inner, From.Parts, Old.Base + From.Offset, Old.Prefix + From.Name + "[]."},
          {To.Inner, To.Parts, New.Base + To.Offset, New.Prefix + To.Name + "[]."}, Made.Constants);
      Made.Parts = pairParts(From.Parts, To.Parts, Made.Inner);
      Pairs.push_back(std::move(Made));
      return;
    }
    bool IsWord = !wordsAt(*Plan.Old, Old.Base + From.Offset, All.Old).empty();
    if (std::string Why = Words.mismatch(Old.Base + From.Offset, New.Base + To.Offset);
        !Why.empty())
      wrong("field " + Made.Name + " " + Why);
    else if (From.Bits > 64 || To.Bits > 64)
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
    Pairs.push_back(std::move(Made));
  }

  TypePlan &Plan;
  const TypeChange &Change;
  const WordMatcher &Words;
  const Types &All;
  std::string Wrong;
  std::vector<std::string> Seen, GivenUp;
};

} // namespace

namespace {

/// Adds what the map says of the types of records that lie in this one.
class Inherited {
public:
  Inherited(TypeChange &To, const FieldMap &Map) : To(To), Map(Map) {}

  /// \p Prefix: "pairs[].", of the elements of an array.
  void add(const Record &Of, bool IsNew, const std::string &Prefix = "") {
    for (const Part &P : Of.Parts)
      addType(P.Type, IsNew, Prefix + P.Name + (P.Name.empty() ? "" : "."));
    for (const Member &M : Of.Members) {
      if (!M.Type.empty())
        addType(M.Type, IsNew, Prefix + M.Name + "[].");
      add({M.Inner, M.Parts}, IsNew, Prefix + M.Name + "[].");
    }
  }

private:
  void addType(const std::string &Type, bool IsNew, const std::string &Prefix) {
    const TypeChange *Change = IsNew ? Map.find(Type) : Map.findWas(Type);
    if (!Change)
      return;
    for (const FieldChange &F : Change->Fields)
      if (IsNew &&
          llvm::none_of(To.Fields, [&](const FieldChange &O) { return O.Name == Prefix + F.Name; }))
        To.Fields.push_back({Prefix + F.Name, F.Was.empty() ? "" : Prefix + F.Was, F.Value});
    for (const std::string &Name : IsNew ? Change->Cut : Change->Drop) {
      auto &Names = IsNew ? To.Cut : To.Drop;
      if (!llvm::is_contained(Names, Prefix + Name))
        Names.push_back(Prefix + Name);
    }
  }

  TypeChange &To;
  const FieldMap &Map;
};

} // namespace

llvm::Expected<TypePlan> planType(const nvm_type &Old, const nvm_type &New, const FieldMap &Map,
                                  const Types &All) {
  TypePlan Plan;
  Plan.Old = &Old;
  Plan.New = &New;
  Plan.IsSame = Old.id == New.id;
  if (Plan.IsSame) {
    const TypeChange *Own = Map.findWas(Old.name);
    if (Own && !(Own->Fields.empty() && Own->Drop.empty() && Own->Cut.empty()))
      return failed("the map changes " + Own->Name +
                    ", which is the same in the pool and the program");
    return Plan;
  }
  Record From = parseRecord(Old.members), To = parseRecord(New.members);
  if (!From.IsWhole || !To.IsWhole)
    return failed(llvm::Twine(New.name) + ": its layout was written by another version of nvmove");
  const TypeChange *Own = Map.findWas(Old.name);
  TypeChange Change = Own ? *Own : TypeChange();
  Inherited(Change, Map).add(From, /*IsNew=*/false);
  Inherited(Change, Map).add(To, /*IsNew=*/true);
  WordMatcher Words({Old, From}, {New, To}, Change, All);
  Matcher Match(Plan, Change, Words, All);
  Plan.Pairs =
      Match.match({From.Members, From.Parts, 0, ""}, {To.Members, To.Parts, 0, ""}, Plan.Constants);
  Plan.Parts = pairParts(From.Parts, To.Parts, Plan.Pairs);
  auto IsTail = [](const Record &R) { return !R.Members.empty() && R.Members.back().IsTail; };
  Plan.HasTail = !Plan.Pairs.empty() && Plan.Pairs.back().From.IsTail;
  Plan.EndsInArray = IsTail(From);
  std::string Wrong = Match.finish();
  if (Wrong.empty() && IsTail(From) != IsTail(To))
    Wrong = "only one of them ends in a flexible array";
  if (!Wrong.empty())
    return failed(llvm::Twine(New.name) + ": " + Wrong);
  return Plan;
}

std::optional<Member> scalarOf(const nvm_type &Type) {
  std::vector<Member> Members = parseRecord(Type.members).Members;
  return Members.size() == 1 && Members[0].Name.empty() ? std::optional(Members[0]) : std::nullopt;
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
