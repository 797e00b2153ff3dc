// Lines given back to a state: see Minimise.h.
#include "crash/Minimise.h"

#include <algorithm>

namespace nvmove::crash {

static std::vector<size_t> lostIn(const Choices &C) {
  std::vector<size_t> Places;
  for (size_t I = 0; I < C.size(); ++I)
    if (C[I].Version + 1 < C[I].Dirty->Versions.size())
      Places.push_back(I);
  return Places;
}

Choices minimised(Choices C, llvm::function_ref<bool(const Choices &)> StillFails) {
  for (size_t Piece = std::max<size_t>(lostIn(C).size() / 2, 1);; Piece /= 2) {
    std::vector<size_t> Places = lostIn(C);
    for (size_t From = 0; From < Places.size(); From += Piece) {
      Choices Less = C;
      for (size_t I = From; I < std::min(From + Piece, Places.size()); ++I)
        Less[Places[I]].Version = Less[Places[I]].Dirty->Versions.size() - 1;
      if (StillFails(Less))
        C = Less;
    }
    if (Piece <= 1)
      break;
  }
  for (size_t I : lostIn(C))
    while (C[I].Version + 2 < C[I].Dirty->Versions.size()) {
      Choices Less = C;
      ++Less[I].Version;
      if (!StillFails(Less))
        break;
      C = Less;
    }
  return C;
}

} // namespace nvmove::crash
