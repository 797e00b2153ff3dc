// Which open transactions a thread depends on, by the locks that were handed on inside them
// (docs/reference/semantics.md, "Locks released inside a transaction").
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>

namespace nvmove::crash {

/// Transactions have ids that are never used again.
class LockOrder {
public:
  /// \p Id: the thread's open transaction if it has stored, or 0. What it depends on goes along.
  void release(unsigned Thread, uint64_t Lock, size_t Id) {
    std::set<size_t> &Released = Locks[Lock];
    if (Id)
      Released.insert(Id);
    for (size_t On : needs(Thread))
      Released.insert(On);
  }

  void acquire(unsigned Thread, uint64_t Lock) {
    for (size_t Id : open(Locks[Lock]))
      Needs[Thread].insert(Id);
  }

  void depend(unsigned Thread, size_t Id) { Needs[Thread].insert(Id); }
  void end(size_t Id) { Over.insert(Id); }
  bool isOver(size_t Id) const { return Over.count(Id); }

  /// Open transactions that the thread's own depends on.
  const std::set<size_t> &needs(unsigned Thread) { return open(Needs[Thread]); }

private:
  /// Forgets those that are over, so that none piles up.
  const std::set<size_t> &open(std::set<size_t> &All) const {
    for (auto At = All.begin(); At != All.end();)
      At = Over.count(*At) ? All.erase(At) : std::next(At);
    return All;
  }

  std::map<uint64_t, std::set<size_t>> Locks;
  std::map<unsigned, std::set<size_t>> Needs;
  std::set<size_t> Over;
};

} // namespace nvmove::crash
