// What the rules remember of a transaction while it is open.
#pragma once

#include "crash/ByteSet.h"
#include "crash/FreedBlocks.h"

namespace nvmove::crash {

/// A transaction that has not ended; of one that joined another, until that one has.
struct OpenOne {
  unsigned Thread = 0;
  ByteSet Stored;
  bool Explicit = false, Joined = false, Wrote = false;
  bool Commits = false;                                   ///< it is at its commit
  std::vector<std::pair<uint64_t, FreedBlock>> Allocated; ///< place, and what it is if undone
  std::map<uint64_t, size_t> Outside; ///< place -> event: a pointer that lies outside the pool
  const Site *Began = nullptr, *First = nullptr; ///< First: of its stores
};

} // namespace nvmove::crash
