// Where a pointer leads to in the new pool: see BlockMap.h.
#include "pool/BlockMap.h"

#include "pool/Mistyped.h"
#include "support/Failed.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace nvmove::pool {

using support::failed;

BlockMap::BlockMap(NVM_POOL *Old, uint64_t Size)
    : Base(static_cast<const char *>(nvm_pool_base(Old))), Size(Size) {}

void BlockMap::sort() {
  llvm::sort(Blocks, [](const Block &A, const Block &B) { return A.Old < B.Old; });
}

bool BlockMap::leadsIn(uint64_t Address) const {
  uint64_t Offset = Address - reinterpret_cast<uint64_t>(Base);
  return Offset < Size || (Offset == Size && !Blocks.empty() && isEnd(Blocks.back(), Base + Size));
}

std::string BlockMap::placeOf(const Block &B) const {
  std::string Type = B.Plan ? B.Plan->Old->name : "block without type";
  return Type + " at @0x" +
         llvm::utohexstr(static_cast<uint64_t>(B.Old - Base),
                         /*LowerCase=*/true);
}

/// C allows a pointer to the end of an array: where the last whole object of a block ends is such an end.
bool BlockMap::isEnd(const Block &B, const char *At) {
  uint64_t Was = B.OldSize;
  if (B.Plan && !B.Plan->IsSame) {
    const MemberPair *Tail = B.Plan->HasTail ? &B.Plan->Pairs.back() : nullptr;
    Was = Tail ? Tail->From.Offset + B.Count * Tail->From.Size : B.Count * B.Plan->Old->size;
  }
  return At == B.Old + Was && Was <= B.OldSize;
}

/// Of what ends at the end of a block: from the start of its last object, or of its only one.
Starts BlockMap::endsOf(const Block &B) const {
  if (!B.Plan)
    return {};
  if (B.Plan->HasTail) {
    const MemberPair &Tail = B.Plan->Pairs.back();
    uint64_t End = Tail.To.Offset + B.Count * Tail.To.Size;
    return {{Tail.From.Type, Tail.From, Tail.To, End, false, /*IsArray=*/B.Count > 1}};
  }
  auto [Known, IsNew] = Ends.try_emplace(B.Plan);
  if (IsNew)
    Known->second = endsAt(*B.Plan, B.Plan->Old->size);
  Starts All = Known->second;
  for (Start &S : All) {
    bool IsNumber = S.Type.empty() && S.Was.Size == B.Plan->Old->size;
    S.IsArray |= (S.IsObject || IsNumber) && B.Count > 1;
  }
  return All;
}

llvm::Expected<uint64_t> BlockMap::endIn(const Block &B, const Pointee &Wanted) const {
  auto New = reinterpret_cast<uint64_t>(B.New);
  if (!B.Plan || B.Plan->IsSame)
    return New + B.OldSize;
  llvm::Expected<std::optional<uint64_t>> End = choose(endsOf(B), Wanted);
  if (!End)
    return End.takeError();
  uint64_t Before = B.Plan->HasTail ? 0 : (B.Count - 1) * B.Plan->New->size;
  return *End ? llvm::Expected<uint64_t>(New + Before + **End)
              : failed(" leads to the end of what has another length now, in " + placeOf(B));
}

/// From the start of the new block.
llvm::Expected<uint64_t> BlockMap::placeInside(const Block &B, uint64_t Inside,
                                               const Pointee &Wanted) const {
  const TypePlan &Plan = *B.Plan;
  uint64_t Index = Plan.EndsInArray ? 0 : Inside / Plan.Old->size;
  Inside -= Index * Plan.Old->size;
  Starts Meant = startsAt(Plan, Inside);
  uint64_t Object = Index * Plan.New->size;
  if (!hasPerhaps(Meant, Wanted)) {
    bool IsNext = !Inside && Index; // the object before ends there
    Starts Ends = endsAt(Plan, IsNext ? Plan.Old->size : Inside);
    if (hasExactly(Ends, Wanted)) {
      Meant = Ends;
      Object -= IsNext ? Plan.New->size : 0;
    }
  }
  llvm::Expected<std::optional<uint64_t>> There = choose(Meant, Wanted);
  if (!There)
    return There.takeError();
  if (!*There || (Index && Index >= B.Count))
    return failed(" leads into what is given up of " + placeOf(B));
  bool IsCast = !Wanted.IsAnything && !Wanted.Number && Wanted.Now && !hasExactly(Meant, Wanted);
  if (IsCast && !mayLieIn(*Wanted.Now, *Plan.New, **There % Plan.New->size))
    return failed(" leads to an object of another type, which does not begin like a " +
                  Wanted.Type + " any more");
  return Object + **There;
}

const Block *BlockMap::blockWith(const char *At) const {
  auto Behind =
      llvm::upper_bound(Blocks, At, [](const char *A, const Block &B) { return A < B.Old; });
  if (Behind == Blocks.begin())
    return nullptr;
  const Block &B = *std::prev(Behind);
  return static_cast<uint64_t>(At - B.Old) < B.OldSize ? &B : nullptr;
}

bool BlockMap::isInSameBlock(uint64_t A, uint64_t B) const {
  const Block *One = blockWith(reinterpret_cast<const char *>(A));
  return A <= B && One && One == blockWith(reinterpret_cast<const char *>(B));
}

std::optional<ArrayEnd> BlockMap::endAt(uint64_t Address, const Pointee &Wanted) const {
  auto *At = reinterpret_cast<const char *>(Address);
  const Block *B = blockWith(At - 1);
  if (!B)
    return std::nullopt;
  auto New = reinterpret_cast<uint64_t>(B->New);
  bool IsWhole = isEnd(*B, At);
  if (!B->Plan && IsWhole) // a text, say
    return ArrayEnd{New + B->OldSize, true, /*IsExact=*/false, true};
  if (!B->Plan || (B->Plan->IsSame && !IsWhole))
    return std::nullopt; // what begins there has not moved away from it
  const TypePlan &Plan = *B->Plan;
  if (!IsWhole) {
    auto Inside = static_cast<uint64_t>(At - B->Old);
    uint64_t Index = Plan.EndsInArray ? 0 : (Inside - 1) / Plan.Old->size;
    std::optional<ArrayEnd> End = arrayEnd(endsAt(Plan, Inside - Index * Plan.Old->size), Wanted);
    if (!End || !End->HasSeveral)
      return std::nullopt;
    if (End->Place)
      *End->Place += New + Index * Plan.New->size;
    return End;
  }
  uint64_t Whole = Plan.IsSame ? B->OldSize : Plan.HasTail ? B->NewSize : B->Count * Plan.New->size;
  std::optional<ArrayEnd> Exact = arrayEnd(endsOf(*B), Wanted);
  if (!Exact || Plan.IsSame)
    return ArrayEnd{New + Whole, !Exact || Exact->HasSeveral, Exact.has_value(), true};
  if (Exact->Place)
    *Exact->Place += New + (Plan.HasTail ? 0 : (B->Count - 1) * Plan.New->size);
  Exact->IsOfBlock = true;
  return Exact;
}

const Block *BlockMap::startingAt(uint64_t Address) const {
  auto *At = reinterpret_cast<const char *>(Address);
  const Block *B = blockWith(At);
  return B && B->Old == At ? B : nullptr;
}

Starts BlockMap::startsThere(uint64_t Address) const {
  auto *At = reinterpret_cast<const char *>(Address);
  const Block *B = blockWith(At);
  if (!B || !B->Plan)
    return {};
  auto Inside = static_cast<uint64_t>(At - B->Old);
  return startsAt(*B->Plan, B->Plan->EndsInArray ? Inside : Inside % B->Plan->Old->size);
}

bool BlockMap::hasMovedRecord(uint64_t Address) const {
  auto *At = reinterpret_cast<const char *>(Address);
  const Block *B = blockWith(At);
  if (!B || !B->Plan || B->Plan->IsSame)
    return false;
  Starts All = startsThere(Address);
  return llvm::any_of(All, [](const Start &S) { return S.IsObject; }) &&
         llvm::any_of(All, [](const Start &S) { return !S.Type.empty() && S.To && *S.To; });
}

llvm::Expected<uint64_t> BlockMap::placeIn(const Block &B, const char *At,
                                           const Pointee &Wanted) const {
  if (Wanted.Changes && (!B.Plan || (B.Plan->IsSame && !Wanted.Number)))
    return failed(" leads to a " +
                  (B.Plan ? "block of " + std::string(B.Plan->Old->name) + ", which stays as it is"
                          : "block without type") +
                  ", and " + Wanted.Type +
                  " has changed: what the block holds cannot be converted");
  auto Inside = static_cast<uint64_t>(At - B.Old);
  bool IsSame = !B.Plan || B.Plan->IsSame;
  if (!IsSame || (B.Plan && Wanted.Number && Wanted.Changes)) {
    llvm::Expected<uint64_t> There = placeInside(B, Inside, Wanted);
    if (!There)
      return There.takeError();
    Inside = IsSame ? Inside : *There;
  }
  return reinterpret_cast<uint64_t>(B.New) + Inside;
}

llvm::Expected<uint64_t> BlockMap::newPlace(uint64_t Address, const Pointee &Wanted,
                                            const llvm::Twine &What, std::string &NoStart) const {
  auto *At = reinterpret_cast<const char *>(Address);
  const Block *B = blockWith(At), *Before = blockWith(At - 1);
  bool IsEnding = Before && isEnd(*Before, At);
  if (IsEnding && B == Before)
    B = nullptr; // the block is longer than its objects
  if (!B && !IsEnding)
    return failed(
        What + " leads to nothing. On a copy: 'nvmove pool gc' frees the block that has it if "
               "the root does not lead there, 'nvmove pool repair --null-dangling' makes it null");
  if (B && IsEnding && B->Plan && !hasPerhaps(startsThere(Address), Wanted) &&
      (!Before->Plan || hasExactly(endsOf(*Before), Wanted)))
    B = nullptr; // nothing that fits begins there
  llvm::Expected<uint64_t> Place = B ? placeIn(*B, At, Wanted) : endIn(*Before, Wanted);
  if (!Place && B && IsEnding && hasExactly(endsOf(*Before), Wanted)) {
    NoStart = (What + llvm::toString(Place.takeError())).str();
    Place = endIn(*Before, Wanted);
  }
  return Place ? std::move(Place) : failed(What + llvm::toString(Place.takeError()));
}

} // namespace nvmove::pool
