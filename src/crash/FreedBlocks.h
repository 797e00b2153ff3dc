// Blocks that were freed, or whose allocation was undone: nobody may store there.
#pragma once

#include "crash/Trace.h"

#include <map>

namespace nvmove::crash {

struct FreedBlock {
  uint64_t Bytes;
  size_t By; ///< transaction
  const Site *Where;
  bool Undone;          ///< its allocation
  bool IsKnown = false; ///< Where is the free itself, not what came before it
};

class FreedBlocks {
public:
  void add(uint64_t Place, const FreedBlock &Block) { Blocks[Place] = Block; }
  void clear() { Blocks.clear(); }

  /// The one that \p Place lies in, or null.
  const FreedBlock *at(uint64_t Place) const {
    auto Found = Blocks.upper_bound(Place);
    return Found != Blocks.begin() && (--Found)->first + Found->second.Bytes > Place
               ? &Found->second
               : nullptr;
  }

  /// Memory that is allocated again, perhaps in pieces.
  void forget(uint64_t Place, uint64_t Bytes) {
    auto First = Blocks.lower_bound(Place);
    if (First != Blocks.begin() && std::prev(First)->first + std::prev(First)->second.Bytes > Place)
      --First;
    Blocks.erase(First, Blocks.lower_bound(Place + Bytes));
  }

  /// What an undone transaction freed is still there.
  void takeBack(size_t Id) {
    for (auto F = Blocks.begin(); F != Blocks.end();)
      F = F->second.By == Id ? Blocks.erase(F) : std::next(F);
  }

private:
  std::map<uint64_t, FreedBlock> Blocks; ///< by place
};

} // namespace nvmove::crash
