// Where notes stand: see Heat.h.
#include "ir/Heat.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// Run in less than one of so many calls of its function, as branches are guessed, a block pays the
/// nanosecond of a call. In a loop it is the part of the rounds, and a case of a large switch, in
/// which interpreters spend their lives, is far from rare.
constexpr uint64_t RarePart = 8, RarePartOfRounds = 4096;

/// In longer loops a call beside the rest is little, and the filter is some 60 bytes a note.
constexpr unsigned SmallInstructionsMax = 24, SmallNotesMax = 2;

/// More loops with several notes than a function has where it spends its time: a macro with a loop,
/// unfolded over and over.
constexpr unsigned SeveralNotedMax = 8;

} // namespace

void Heats::add(const Instruction &I) {
  if (const Loop *L = Loops.getLoopFor(I.getParent()))
    if (++NotesIn[L] == 2 && L->isInnermost())
      ++SeveralNoted;
}

bool Heats::isRare(const BasicBlock &B) const {
  const Loop *L = Loops.getLoopFor(&B);
  if (B.getParent()->hasMinSize() || (B.getParent()->hasOptSize() && !L))
    return true;
  BlockFrequencyInfo &Known = Frequency();
  uint64_t Often = Known.getBlockFreq(&B).getFrequency();
  if (L)
    return Often < Known.getBlockFreq(L->getHeader()).getFrequency() / RarePartOfRounds;
  return Often < Known.getEntryFreq().getFrequency() / RarePart;
}

bool Heats::isSmall(const Loop &L) const {
  unsigned Notes = NotesIn.lookup(&L);
  if (!L.isInnermost() || Notes > (SeveralNoted > SeveralNotedMax ? 1 : SmallNotesMax))
    return false;
  unsigned Instructions = 0;
  for (const BasicBlock *B : L.blocks()) {
    Instructions += B->sizeWithoutDebug();
    if (Instructions > SmallInstructionsMax)
      return false;
  }
  return true;
}

Heat Heats::of(const Instruction &I) const {
  if (isRare(*I.getParent()))
    return Heat::Rare;
  const Loop *L = Loops.getLoopFor(I.getParent());
  if (!L)
    return Heat::Once;
  return isSmall(*L) ? Heat::Hot : Heat::Looped;
}

} // namespace nvmove::plugin
