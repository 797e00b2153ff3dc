// Where a pointer leads to in the new pool: see BlockMap.h.
#include "pool/BlockMap.h"

#include "support/Failed.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace nvmove::pool {

using support::failed;

BlockMap::BlockMap(NVM_POOL *Old) : Base(static_cast<const char *>(nvm_pool_base(Old))) {
  nvm_info Info;
  if (nvm_pool_info(Old, &Info) == 0)
    Size = Info.size;
}

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

namespace {

/// The objects of a block, as what begins or ends there.
Starts objectsOf(const Block &B) {
  Starts All;
  if (!B.Plan)
    return All;
  All.push_back({B.Plan->Old->name, {}, {}, 0, /*IsObject=*/true});
  if (std::optional<Member> Number = scalarOf(*B.Plan->Old))
    All.push_back({"", *Number, *Number, 0});
  return All;
}

} // namespace

/// What ends there is the array of the objects, or the last member of the last one.
llvm::Expected<uint64_t> BlockMap::endIn(const Block &B, const Pointee &Wanted) const {
  auto New = reinterpret_cast<uint64_t>(B.New);
  if (!B.Plan || B.Plan->IsSame)
    return New + B.OldSize;
  if (B.Plan->HasTail)
    return New + B.Plan->Pairs.back().To.Offset + B.Count * B.Plan->Pairs.back().To.Size;
  uint64_t Before = (B.Count - 1) * B.Plan->New->size;
  Starts Ends = endsOf(*B.Plan);
  Ends.push_back({B.Plan->Old->name, {}, {}, B.Plan->New->size, /*IsObject=*/true});
  llvm::Expected<std::optional<uint64_t>> End = choose(Ends, Wanted);
  if (!End)
    return End.takeError();
  return *End ? llvm::Expected<uint64_t>(New + Before + **End)
              : failed(" leads to the end of what has another length now, in " + placeOf(B));
}

llvm::Expected<uint64_t> BlockMap::newPlace(uint64_t Address, const Pointee &Wanted,
                                            const llvm::Twine &What) const {
  auto *At = reinterpret_cast<const char *>(Address);
  auto Behind =
      llvm::upper_bound(Blocks, At, [](const char *A, const Block &B) { return A < B.Old; });
  const Block *Before = Behind == Blocks.begin() ? nullptr : &*std::prev(Behind);
  // A block begins where another one ends: the pointer's type may say which of them is meant.
  if (Before && Before->Old == At && Before != Blocks.data() && isEnd(Before[-1], At) &&
      hasExactly(objectsOf(Before[-1]), Wanted) && !hasExactly(objectsOf(*Before), Wanted))
    --Before;
  if (Before && isEnd(*Before, At)) {
    llvm::Expected<uint64_t> End = endIn(*Before, Wanted);
    return End ? std::move(End) : failed(What + llvm::toString(End.takeError()));
  }
  if (!Before || static_cast<uint64_t>(At - Before->Old) >= Before->OldSize)
    return failed(
        What + " leads to nothing. On a copy: 'nvmove pool gc' frees the block that has it if "
               "the root does not lead there, 'nvmove pool repair --null-dangling' makes it null");
  const Block &B = *Before;
  if (!B.Plan && Wanted.Changes)
    return failed(What + " leads to a block without type, and " + Wanted.Type +
                  " has changed: what the block holds cannot be converted");
  if (B.Plan && B.Plan->IsSame && Wanted.Number && scalarOf(*B.Plan->Old))
    if (llvm::Expected<std::optional<uint64_t>> Same = choose(objectsOf(B), Wanted); !Same)
      return failed(What + llvm::toString(Same.takeError()) + ": a block of " + B.Plan->Old->name +
                    " stays one");
  auto Inside = static_cast<uint64_t>(At - B.Old), Index = uint64_t(0);
  if (B.Plan && !B.Plan->IsSame) {
    if (!B.Plan->EndsInArray) {
      Index = Inside / B.Plan->Old->size;
      Inside %= B.Plan->Old->size;
    }
    llvm::Expected<std::optional<uint64_t>> There = choose(startsAt(*B.Plan, Inside), Wanted);
    if (!There)
      return failed(What + llvm::toString(There.takeError()));
    if (!*There || (Index && Index >= B.Count))
      return failed(What + " leads into what is given up of " + placeOf(B));
    Inside = Index * B.Plan->New->size + **There;
  }
  return reinterpret_cast<uint64_t>(B.New) + Inside;
}

} // namespace nvmove::pool
