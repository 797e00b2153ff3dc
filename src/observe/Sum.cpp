// Adding up runs: see Sum.h.
#include "observe/Sum.h"

#include <algorithm>

namespace nvmove::observe {

void Sum::addMost(uint64_t &To, uint64_t Most) const {
  To = SameRun ? To + Most : std::max(To, Most);
}

Sum::Sum(Observation &O, bool SameRun) : O(O), SameRun(SameRun) {
  for (unsigned I = 0; I < O.Stacks.size(); ++I)
    Stacks[O.Stacks[I].Calls] = I;
  for (size_t I = 0; I < O.Links.size(); ++I)
    Links[keyOf(O.Links[I])] = I;
}

unsigned Sum::add(const Stack &S) {
  auto [At, IsNew] = Stacks.try_emplace(S.Calls, O.Stacks.size());
  if (IsNew) {
    O.Stacks.push_back(S);
    return At->second;
  }
  Stack &Known = O.Stacks[At->second];
  if (S.Made)
    Known.SizeLeast = Known.Made ? std::min(Known.SizeLeast, S.SizeLeast) : S.SizeLeast;
  Known.SizeMost = std::max(Known.SizeMost, S.SizeMost);
  for (uint64_t Stack::*Each : {&Stack::Made, &Stack::Bytes, &Stack::FreedEarly,
                                &Stack::FreedUnlinked, &Stack::FreedLinked, &Stack::Left})
    Known.*Each += S.*Each;
  if (S.WaitFirst)
    Known.WaitFirst = Known.WaitFirst ? std::min(Known.WaitFirst, S.WaitFirst) : S.WaitFirst;
  Known.WaitLast = std::max(Known.WaitLast, S.WaitLast);
  for (uint64_t Stack::*Each : {&Stack::AliveMost, &Stack::LinkedMost})
    addMost(Known.*Each, S.*Each);
  return At->second;
}

void Sum::add(const Link &L) {
  auto [At, IsNew] = Links.try_emplace(keyOf(L), O.Links.size());
  if (IsNew) {
    O.Links.push_back(L);
    return;
  }
  Link &Known = O.Links[At->second];
  addMost(Known.Most, L.Most);
  Known.Since = std::min(Known.Since, L.Since);
  Known.Until = std::max(Known.Until, L.Until);
}

void addObservation(Observation &O, const Observation &Other, bool SameRun) {
  Sum All(O, SameRun);
  O.Program = Other.Program;
  O.Runs += Other.Runs;
  O.Killed += Other.Killed;
  O.Points += Other.Points;
  O.Files.insert(Other.Files.begin(), Other.Files.end());
  std::vector<unsigned> Number;
  for (const Stack &S : Other.Stacks)
    Number.push_back(All.add(S));
  for (Link L : Other.Links) {
    L.To = Number[L.To];
    L.From = L.Kind == Link::Holder::Blocks ? Number[L.From] : 0;
    All.add(L);
  }
}

} // namespace nvmove::observe
