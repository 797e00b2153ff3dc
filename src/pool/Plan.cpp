// Matching the members of two layouts: see Plan.h.
#include "pool/Plan.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::pool {

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

/// The word there, where it is more than plain bytes; what lies in a flexible array is not looked at.
const nvm_field *wordAt(const nvm_type &Type, uint64_t Offset) {
  for (uint32_t I = 0; I < Type.field_count; ++I) {
    const nvm_field &F = Type.fields[I];
    if (F.kind == NVM_FIELD_VOLATILE || F.kind == NVM_FIELD_FLEXIBLE_ARRAY || Offset < F.offset)
      continue;
    uint64_t Inside = Offset - F.offset;
    if (F.stride ? Inside % F.stride == 0 && Inside / F.stride < F.count : !Inside)
      return &F;
  }
  return nullptr;
}

/// Whether the byte there belongs to a member that is stored to without notes.
bool isVolatile(const nvm_type &Type, uint64_t Offset) {
  return llvm::any_of(llvm::ArrayRef(Type.fields, Type.field_count), [&](const nvm_field &F) {
    uint64_t Inside = Offset - F.offset;
    return F.kind == NVM_FIELD_VOLATILE && Offset >= F.offset && Inside % F.stride == 0 &&
           Inside / F.stride < F.count;
  });
}

uint64_t firstBit(const Member &M) { return M.Offset * 8 + M.FirstBit; }
uint64_t endBit(const Member &M) { return firstBit(M) + (M.Bits ? M.Bits : M.Size * M.Count * 8); }

/// The name of the member that has this bit, "pairs[].kind"; empty: none has.
std::string nameAt(const std::vector<Member> &Members, uint64_t Bit) {
  for (const Member &M : Members) {
    if (Bit < firstBit(M) || Bit >= endBit(M))
      continue;
    uint64_t Inside = (Bit - firstBit(M)) % (M.Size * 8);
    return M.Inner.empty() ? M.Name : M.Name + "[]." + nameAt(M.Inner, Inside);
  }
  return "";
}

/// Records by value have no line of their own: "head.link.next" lies in two. Where each begins.
std::map<std::string, uint64_t> recordStarts(const std::vector<Member> &Members) {
  std::map<std::string, uint64_t> Starts;
  for (const Member &M : Members)
    for (size_t Dot = M.Name.find('.'); Dot != std::string::npos; Dot = M.Name.find('.', Dot + 1)) {
      auto [At, IsNew] = Starts.try_emplace(M.Name.substr(0, Dot), M.Offset);
      At->second = std::min(At->second, M.Offset);
    }
  return Starts;
}

constexpr uint64_t Gone = UINT64_MAX;

std::vector<RecordPair> pairRecords(const std::vector<Member> &Old,
                                    const std::vector<Member> &New) {
  std::vector<RecordPair> Pairs;
  std::map<std::string, uint64_t> Now = recordStarts(New);
  for (const auto &[Name, Start] : recordStarts(Old)) {
    auto At = Now.find(Name);
    Pairs.push_back({Name, Start, At == Now.end() ? Gone : At->second});
  }
  return Pairs;
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
  Matcher(TypePlan &Plan, const TypeChange *Change, const std::vector<Member> &AllOld,
          const std::vector<Member> &AllNew)
      : Plan(Plan), Change(Change), AllOld(AllOld), AllNew(AllNew) {}

  struct Place {
    const std::vector<Member> &Members;
    uint64_t Base;      ///< of the record around, in the type
    std::string Prefix; ///< "pairs[]."
  };

  std::vector<MemberPair> match(const Place &Old, const Place &New, bool IsInner) {
    std::vector<MemberPair> Pairs;
    std::vector<bool> Used(Old.Members.size());
    for (const Member &To : New.Members) {
      std::string Name = New.Prefix + To.Name;
      const FieldChange *Field = changeOf(Name);
      if (Field && Field->Was.empty()) {
        addConstant(To, Name, Field->Value, IsInner);
        continue;
      }
      std::string Was = Field ? Field->Was : Old.Prefix + To.Name;
      auto From =
          llvm::find_if(Old.Members, [&](const Member &M) { // of a base, and of its derived class
            return Old.Prefix + M.Name == Was && !Used[size_t(&M - Old.Members.data())];
          });
      if (From == Old.Members.end()) {
        if (Field)
          wrong("field " + Was + " (of " + Name + ") is not in the pool's");
        else
          Plan.Notes.push_back("field " + Name + " is new, and zero");
        continue;
      }
      Used[size_t(From - Old.Members.begin())] = true;
      pair(Pairs, {*From, To, Name, isCut(Name), {}, {}}, Old, New);
    }
    refuseUnions(Pairs);
    for (auto [N, M] : llvm::enumerate(Old.Members))
      if (std::string Name = Old.Prefix + M.Name; !Used[N])
        giveUp(Name);
    return Pairs;
  }

  /// What is still to be decided, and names of the map that were not found.
  std::string finish() {
    if (!Change)
      return Wrong;
    for (const FieldChange &F : Change->Fields)
      if (!llvm::is_contained(Seen, F.Name))
        wrong("the map's field " + F.Name + " is not in the program's");
    for (const auto *List : {&Change->Drop, &Change->Cut})
      for (const std::string &Name : *List)
        if (!llvm::is_contained(Seen, Name))
          wrong("the map's field " + Name + " is in neither");
    return Wrong;
  }

private:
  void wrong(const std::string &What) { Wrong += (Wrong.empty() ? "" : "; ") + What; }

  const FieldChange *changeOf(const std::string &Name) {
    Seen.push_back(Name);
    for (const FieldChange &F : Change ? llvm::ArrayRef(Change->Fields) : std::nullopt)
      if (F.Name == Name)
        return &F;
    return nullptr;
  }

  bool isCut(const std::string &Name) const {
    return Change && llvm::is_contained(Change->Cut, Name);
  }

  void giveUp(const std::string &Name) {
    Seen.push_back(Name);
    if (Change && llvm::is_contained(Change->Drop, Name))
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

  void addConstant(const Member &To, const std::string &Name, int64_t Value, bool IsInner) {
    std::vector<char> Space(To.Offset + To.Size);
    if (IsInner || To.IsArray || !isInteger(To.Kind))
      wrong("field " + Name + " is no integer, a value cannot be given to it");
    else if (!storeInteger(To, Space.data(), Value))
      wrong("field " + Name + " cannot hold " + std::to_string(Value));
    else
      Plan.Constants.push_back({To, Value});
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
    const nvm_field *WasWord = wordAt(*Plan.Old, Old.Base + From.Offset),
                    *IsWord = wordAt(*Plan.New, New.Base + To.Offset);
    if (WasWord && IsWord && !isSameCondition(WasWord->when, IsWord->when))
      wrong("field " + Made.Name + " is a pointer under another condition");
    if (WasWord && IsWord && WasWord->kind != IsWord->kind &&
        (WasWord->kind == NVM_FIELD_XOR || IsWord->kind == NVM_FIELD_XOR))
      wrong("field " + Made.Name + " is made of two pointers in one of them");
    Made.HasInner = !From.Inner.empty() && !To.Inner.empty();
    if (Made.HasInner) {
      Made.Inner = match({From.Inner, Old.Base + From.Offset, Old.Prefix + From.Name + "[]."},
                         {To.Inner, New.Base + To.Offset, New.Prefix + To.Name + "[]."}, true);
      Made.Records = pairRecords(From.Inner, To.Inner);
    } else if (WasWord && !IsWord && !isVolatile(*Plan.New, New.Base + To.Offset))
      wrong("field " + Made.Name + " is a pointer in the pool's, or marked as one");
    else if (isConverted(From, To) && !(WasWord && From.Size != To.Size))
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

  /// Whether the same values of the same member make it what its field says.
  bool isSameCondition(const nvm_when *Was, const nvm_when *Is) {
    if (!Was || !Is)
      return Was == Is;
    std::string Old = nameAt(AllOld, Was->offset * 8ull + Was->first_bit),
                New = nameAt(AllNew, Is->offset * 8ull + Is->first_bit);
    for (const FieldChange &F : Change ? llvm::ArrayRef(Change->Fields) : std::nullopt)
      if (F.Name == New && !F.Was.empty())
        New = F.Was;
    return Old == New && Was->unless == Is->unless &&
           llvm::equal(llvm::ArrayRef(Was->values, Was->count),
                       llvm::ArrayRef(Is->values, Is->count));
  }

  TypePlan &Plan;
  const TypeChange *Change;
  const std::vector<Member> &AllOld, &AllNew;
  std::string Wrong;
  std::vector<std::string> Seen;
};

} // namespace

llvm::Expected<TypePlan> planType(const nvm_type &Old, const nvm_type &New,
                                  const TypeChange *Change) {
  TypePlan Plan;
  Plan.Old = &Old;
  Plan.New = &New;
  Plan.IsSame = Old.id == New.id;
  if (Plan.IsSame)
    return Plan;
  std::vector<Member> From = parseMembers(Old.members), To = parseMembers(New.members);
  Matcher Match(Plan, Change, From, To);
  Plan.Pairs = Match.match({From, 0, ""}, {To, 0, ""}, false);
  Plan.Records = pairRecords(From, To);
  auto IsTail = [](const std::vector<Member> &All) { return !All.empty() && All.back().IsTail; };
  Plan.HasTail = !Plan.Pairs.empty() && Plan.Pairs.back().From.IsTail;
  Plan.EndsInArray = IsTail(From);
  std::string Wrong = Match.finish();
  if (Wrong.empty() && IsTail(From) != IsTail(To))
    Wrong = "only one of them ends in a flexible array";
  if (!Wrong.empty())
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   StringRef(New.name) + ": " + Wrong);
  return Plan;
}

bool isScalar(const nvm_type &Type) {
  std::vector<Member> Members = parseMembers(Type.members);
  return Members.size() == 1 && Members[0].Name.empty();
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

std::optional<uint64_t> placeIn(const std::vector<MemberPair> &Pairs,
                                const std::vector<RecordPair> &Records, uint64_t Offset,
                                bool Deep) {
  std::optional<uint64_t> Start;
  for (const RecordPair &R : Records) {
    if (Deep || R.From != Offset)
      continue;
    if (R.To == Gone || (Start && *Start != R.To))
      return std::nullopt;
    Start = R.To;
  }
  if (Start)
    return Start;
  for (const MemberPair &P : Pairs) {
    uint64_t Inside = Offset - P.From.Offset, Size = std::max<uint64_t>(P.From.Size, 1);
    if (Offset < P.From.Offset || (!P.From.IsTail && Inside >= Size * P.From.Count))
      continue;
    uint64_t Rest = Inside % Size;
    std::optional<uint64_t> Index = elementIn(P.From, P.To, Inside / Size);
    if (!Index)
      return std::nullopt;
    if ((Rest || Deep) && P.HasInner) {
      std::optional<uint64_t> There = placeIn(P.Inner, P.Records, Rest, Deep);
      if (!There)
        return std::nullopt;
      Rest = *There;
    } else if (Rest >= P.To.Size) {
      return std::nullopt;
    }
    return P.To.Offset + *Index * P.To.Size + Rest;
  }
  return std::nullopt;
}

} // namespace nvmove::pool
