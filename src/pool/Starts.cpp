// What begins where: see Starts.h.
#include "pool/Starts.h"

#include "support/Failed.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::pool {

namespace {

using Place = std::optional<uint64_t>;

Place plus(Place Base, Place Offset) {
  return Base && Offset ? Place(*Base + *Offset) : std::nullopt;
}

/// \p At: in the record that the pairs are of, which begins at \p Base in the new object.
void addStarts(const std::vector<MemberPair> &Pairs, const std::vector<PartPair> &Parts,
               uint64_t At, Place Base, Starts &All) {
  for (const PartPair &P : Parts)
    if (P.From == At)
      All.push_back({P.Type, {}, {}, plus(Base, P.To)});
  for (const MemberPair &P : Pairs) {
    uint64_t Inside = At - P.From.Offset, Size = std::max<uint64_t>(P.From.Size, 1);
    if (At < P.From.Offset || (!P.From.IsTail && Inside >= Size * P.From.Count))
      continue;
    uint64_t Rest = Inside % Size;
    Place Index = elementIn(P.From, P.To, Inside / Size),
          Element = Index ? plus(Base, P.To.Offset + *Index * P.To.Size) : std::nullopt;
    if (!Rest && !P.From.Type.empty())
      All.push_back({P.From.Type, {}, {}, P.IsSameType ? Element : std::nullopt});
    if (P.HasInner)
      addStarts(P.Inner, P.Parts, Rest, Element, All);
    else
      All.push_back({"", P.From, P.To, Rest < P.To.Size ? plus(Element, Rest) : std::nullopt});
  }
}

/// \p End: in the record that the pairs are of. An array that has another length now has an end of which nobody knows
/// whether it stays where it was.
void addEnds(const std::vector<MemberPair> &Pairs, const std::vector<PartPair> &Parts, uint64_t End,
             Place Base, Starts &All) {
  for (const PartPair &P : Parts)
    if (P.From + P.FromSize == End)
      All.push_back({P.Type, {}, {}, P.To ? plus(Base, *P.To + P.ToSize) : std::nullopt});
  for (const MemberPair &P : Pairs) {
    uint64_t Inside = End - P.From.Offset, Size = std::max<uint64_t>(P.From.Size, 1),
             Whole = Size * P.From.Count;
    if (End <= P.From.Offset || (!P.From.IsTail && Inside > Whole))
      continue;
    uint64_t Last = (Inside - 1) / Size;
    bool IsAsLong = P.From.Dimensions == P.To.Dimensions;
    Place Index = elementIn(P.From, P.To, Last),
          Element = Index ? plus(Base, P.To.Offset + *Index * P.To.Size) : std::nullopt,
          Behind = IsAsLong ? plus(Element, P.To.Size) : std::nullopt;
    bool IsArray = P.From.IsArray && P.From.Count > 1;
    if (Inside == Whole && !P.From.Type.empty())
      All.push_back({P.From.Type, {}, {}, P.IsSameType ? Behind : std::nullopt, false, IsArray});
    if (P.HasInner)
      addEnds(P.Inner, P.Parts, Inside - Last * Size, Element, All);
    else if (Inside == Whole)
      All.push_back({"", P.From, P.To, Behind, false, IsArray});
  }
}

bool isAlike(const Member &A, const Member &B) {
  return A.Size == B.Size && (A.Kind == B.Kind || (isInteger(A.Kind) && isInteger(B.Kind)));
}

enum Fit { No, Perhaps, Exactly };

/// Characters may be any bytes.
Fit fitNumber(const Start &S, const Member &Wanted) {
  bool IsNumber = S.Type.empty();
  bool HasRows = llvm::ArrayRef(S.Is.Dimensions).take_back(Wanted.Dimensions.size()) ==
                 llvm::ArrayRef(Wanted.Dimensions);
  if (IsNumber && isAlike(S.Is, Wanted) && (HasRows || S.Was.Dimensions == S.Is.Dimensions))
    return Exactly;
  return isCharacter(Wanted.Kind) || (IsNumber && isCharacter(S.Was.Kind)) ? Perhaps : No;
}

/// How well a pointer fits. A program that casts its pointers to a record means one that begins alike, or characters;
/// never a number.
Fit fit(const Start &S, const Pointee &Wanted) {
  if (Wanted.IsAnything)
    return S.IsObject ? Exactly : Perhaps;
  if (Wanted.Number)
    return fitNumber(S, *Wanted.Number);
  if (Wanted.Type.empty())
    return S.IsObject ? No : Perhaps;
  if (S.Type.empty())
    return isCharacter(S.Was.Kind) ? Perhaps : No;
  if (S.Type == Wanted.Type)
    return Exactly;
  return Wanted.Changes && !S.IsObject ? No : Perhaps; // what it was called before, nobody knows
}

} // namespace

Starts startsAt(const TypePlan &Plan, uint64_t Inside) {
  Starts All;
  if (!Inside)
    All.push_back({recordOf(Plan.Old->name).str(), {}, {}, 0, /*IsObject=*/true});
  addStarts(Plan.Pairs, Plan.Parts, Inside, 0, All);
  return All;
}

Starts endsAt(const TypePlan &Plan, uint64_t Inside) {
  Starts All;
  addEnds(Plan.Pairs, Plan.Parts, Inside, 0, All);
  if (Inside == Plan.Old->size)
    All.push_back({recordOf(Plan.Old->name).str(), {}, {}, Plan.New->size, /*IsObject=*/true});
  return All;
}

bool hasExactly(const Starts &All, const Pointee &Wanted) {
  return llvm::any_of(All, [&](const Start &S) { return fit(S, Wanted) == Exactly; });
}

bool hasPerhaps(const Starts &All, const Pointee &Wanted) {
  return llvm::any_of(All, [&](const Start &S) { return fit(S, Wanted) != No; });
}

std::optional<ArrayEnd> arrayEnd(const Starts &All, const Pointee &Wanted) {
  std::optional<ArrayEnd> Found;
  for (const Start &S : All)
    if (fit(S, Wanted) == Exactly && (!Found || S.IsArray))
      Found = ArrayEnd{S.To, S.IsArray};
  return Found;
}

llvm::Expected<Place> choose(const Starts &All, const Pointee &Wanted) {
  Fit Best = Perhaps;
  for (const Start &S : All)
    Best = std::max(Best, fit(S, Wanted));
  const Start *Meant = nullptr;
  for (const Start &S : All) {
    if (fit(S, Wanted) != Best)
      continue;
    if (Meant && Meant->To != S.To)
      return support::failed(
          llvm::Twine(
              " leads to where several things begin or end that lie apart now; which is meant, ") +
          (Wanted.Type.empty() ? "only the program itself can say ('--layouts PROGRAM')"
                               : "its type does not say"));
    Meant = &S;
  }
  if (!Meant && !All.empty())
    return support::failed(" leads to where nothing of its type begins or ends");
  return Meant ? Meant->To : Place();
}

} // namespace nvmove::pool
