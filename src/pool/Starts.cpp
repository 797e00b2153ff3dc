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
      All.push_back({P.From.Type, {}, {}, Element});
    if (P.HasInner)
      addStarts(P.Inner, P.Parts, Rest, Element, All);
    else
      All.push_back({"", P.From, P.To, Rest < P.To.Size ? plus(Element, Rest) : std::nullopt});
  }
}

void addEnds(const std::vector<MemberPair> &Pairs, uint64_t End, Place Base, Starts &All) {
  for (const MemberPair &P : Pairs) {
    if (P.From.IsTail || !P.From.Count || P.From.Offset + P.From.Size * P.From.Count != End)
      continue;
    bool IsAsLong =
        P.From.Dimensions == P.To.Dimensions; // else its end may be where it was, or where it is
    Place Last = IsAsLong ? plus(Base, P.To.Offset + P.To.Size * (P.To.Count - 1)) : std::nullopt;
    if (!P.HasInner) {
      All.push_back({"", P.From, P.To, plus(Last, P.To.Size)});
      continue;
    }
    All.push_back({P.From.Type, {}, {}, plus(Last, P.To.Size)});
    addEnds(P.Inner, P.From.Size, Last, All);
  }
}

bool isAlike(const Member &A, const Member &B) {
  return A.Size == B.Size && (A.Kind == B.Kind || (isInteger(A.Kind) && isInteger(B.Kind)));
}

enum Fit { No, Perhaps, Exactly };

/// Characters may be any bytes.
Fit fitNumber(const Start &S, const Member &Wanted) {
  bool IsNumber = S.Type.empty();
  if (IsNumber && (isAlike(S.Was, Wanted) || isAlike(S.Is, Wanted)))
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
  return S.Type == Wanted.Type ? Exactly : Perhaps;
}

} // namespace

Starts startsAt(const TypePlan &Plan, uint64_t Inside) {
  Starts All;
  if (!Inside)
    All.push_back({Plan.Old->name, {}, {}, 0, /*IsObject=*/true});
  addStarts(Plan.Pairs, Plan.Parts, Inside, 0, All);
  return All;
}

Starts endsOf(const TypePlan &Plan) {
  Starts All;
  addEnds(Plan.Pairs, Plan.Old->size, 0, All);
  return All;
}

bool hasExactly(const Starts &All, const Pointee &Wanted) {
  return llvm::any_of(All, [&](const Start &S) { return fit(S, Wanted) == Exactly; });
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
