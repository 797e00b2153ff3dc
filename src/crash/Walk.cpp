// States of a moment: see Walk.h.
#include "crash/Walk.h"

#include <algorithm>

namespace nvmove::crash {

/// More than \p Most counts as that many and one more.
uint64_t Walk::productOf(const Choices &All, uint64_t Most) {
  uint64_t Product = 1;
  for (const Choice &C : All)
    if ((Product *= C.Dirty->Versions.size()) > Most)
      return Most + 1;
  return Product;
}

bool Walk::isSmall(const Choices &All) const { return productOf(All, L.EpochMax) <= L.EpochMax; }

uint64_t Walk::countOf(const Limits &Each) const {
  Choices All = M.choices();
  if (uint64_t Product = productOf(All, Each.EpochMax); Product <= Each.EpochMax)
    return Product;
  uint64_t Moments = 0;
  for (const Choice &C : All)
    Moments += C.Dirty->Versions.size();
  return 2 + 2 * std::min<uint64_t>(All.size(), Each.Alone) + std::min(Moments, Each.Alone) +
         Each.Samples;
}

uint64_t Walk::countIfSmall(const Limits &Each) const {
  uint64_t Product = productOf(M.choices(), Each.EpochMax);
  return Product <= Each.EpochMax ? Product : 0;
}

uint64_t Walk::countOfLatest() const {
  uint64_t Words = 0;
  for (const Choice &C : M.choices())
    Words += C.Dirty->Versions.size() - 1;
  return std::clamp<uint64_t>(Words, 1, L.Words);
}

bool Walk::epoch() {
  Choices All = M.choices();
  bool Small = isSmall(All);
  if (Small)
    exhaust(All);
  else
    sample(All);
  return Small;
}

void Walk::epochIfSmall() {
  Choices All = M.choices();
  if (isSmall(All))
    exhaust(All);
}

void Walk::latest() {
  Choices All = M.choices();
  size_t Words = 0, Stored = 0;
  for (const Choice &C : All)
    Words += C.Dirty->Versions.size() - 1;
  size_t Step = Words / L.Words + 1;
  for (Choice &C : All)
    while (C.Version + 1 < C.Dirty->Versions.size()) {
      ++C.Version;
      if (++Stored % Step == 0 && Stored < Words)
        Take(All);
    }
  Take(All);
}

void Walk::exhaust(Choices &All) {
  while (true) {
    Take(All);
    size_t I = 0;
    while (I < All.size() && ++All[I].Version == All[I].Dirty->Versions.size())
      All[I++].Version = 0;
    if (I == All.size())
      return;
  }
}

/// Lines From to To as they were at \p Moment, which is that event, or that moment of one.
void Walk::choose(Choices &All, size_t From, size_t To, size_t Moment, size_t Version::*By) {
  for (size_t I = From; I < To; ++I) {
    Choice &C = All[I];
    C.Version = 0;
    while (C.Version + 1 < C.Dirty->Versions.size() &&
           C.Dirty->Versions[C.Version + 1].*By <= Moment)
      ++C.Version;
  }
}

void Walk::sectors() {
  constexpr uint64_t LinesOfSector = 512 / LineSize;
  constexpr size_t MomentsMax = 64;
  Choices All = M.choices();
  std::vector<size_t> Starts, Moments; // of sectors, in All
  for (size_t I = 0; I < All.size(); ++I) {
    if (!I || All[I].Line / LinesOfSector != All[I - 1].Line / LinesOfSector)
      Starts.push_back(I);
    for (const Version &V : All[I].Dirty->Versions)
      Moments.push_back(V.Event);
  }
  Starts.push_back(All.size());
  std::sort(Moments.begin(), Moments.end());
  Moments.erase(std::unique(Moments.begin(), Moments.end()), Moments.end());
  auto AnyMoment = [&] { return Moments[Random() % Moments.size()]; };
  if (Moments.empty())
    return;
  for (size_t N = Moments.size() > MomentsMax ? Moments.size() - MomentsMax : 0; N < Moments.size();
       ++N) {
    choose(All, 0, All.size(), Moments[N], &Version::Event);
    Take(All);
  }
  for (size_t S = 0; S + 1 < Starts.size() && S < L.Samples; ++S) {
    choose(All, 0, All.size(), Moments.back(), &Version::Event);
    choose(All, Starts[S], Starts[S + 1], 0, &Version::Event);
    Take(All);
  }
  for (uint64_t N = 0; N < L.Samples; ++N) {
    for (size_t S = 0; S + 1 < Starts.size(); ++S)
      choose(All, Starts[S], Starts[S + 1], AnyMoment(), &Version::Event);
    Take(All);
  }
}

void Walk::sample(Choices &All) {
  auto Set = [&](bool Last) {
    for (Choice &C : All)
      C.Version = Last ? C.Dirty->Versions.size() - 1 : 0;
  };
  for (bool Last : {false, true}) {
    Set(Last);
    Take(All);
    size_t Step = All.size() / L.Alone + 1;
    for (size_t I = 0; I < All.size(); I += Step) { // one line alone is the other way round
      Set(Last);
      All[I].Version = Last ? 0 : All[I].Dirty->Versions.size() - 1;
      Take(All);
    }
  }
  std::vector<size_t> Moments;
  for (const Choice &C : All)
    for (const Version &V : C.Dirty->Versions)
      Moments.push_back(V.Moment);
  std::sort(Moments.begin(), Moments.end());
  Moments.erase(std::unique(Moments.begin(), Moments.end()), Moments.end());
  size_t Step = Moments.size() / L.Alone + 1;
  for (size_t I = 0; I < Moments.size(); I += Step) {
    size_t Moment = Moments[I];
    choose(All, 0, All.size(), Moment, &Version::Moment);
    Take(All);
  }
  for (uint64_t N = 0; N < L.Samples; ++N) {
    for (Choice &C : All)
      C.Version = Random() % C.Dirty->Versions.size();
    Take(All);
  }
}

} // namespace nvmove::crash
