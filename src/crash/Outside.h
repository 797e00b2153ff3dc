// Stores outside transactions, held back until it shows what ends that which they belong to.
//
// A thread's stores between two of its commit points are a transaction, as are those behind the
// last one. In a thread that has no commit points, and before a beginning, nobody meant them to be.
// Of a program that has neither one finding is enough.
#pragma once

#include "crash/Result.h"

#include "llvm/ADT/MapVector.h"

#include <map>

namespace nvmove::crash {

class Outside {
public:
  /// The finding that a store is unless a commit point follows; by its place, of which one is kept.
  void add(unsigned Thread, const Finding &F) {
    auto [Known, IsNew] = Threads[Thread].Found.insert({F.Where, F});
    if (!IsNew)
      ++Known->second.Count;
  }

  void commitPoint(unsigned Thread) {
    HasNone = false;
    Threads[Thread].HasPoints = true;
    Threads[Thread].Found.clear();
  }

  /// Of a lock, which commits.
  void release(unsigned Thread) {
    HasNone = false;
    Threads[Thread].Found.clear();
  }

  /// What a beginning has committed.
  std::vector<Finding> begin(unsigned Thread) {
    HasNone = false;
    return take(Threads[Thread]);
  }

  /// What the ends of threads have.
  std::vector<Finding> end() {
    std::vector<Finding> All;
    for (auto &[Number, Of] : Threads)
      if (!Of.HasPoints)
        llvm::append_range(All, take(Of));
    return HasNone && !All.empty() ? std::vector{allOf(std::move(All))} : All;
  }

private:
  struct Thread {
    llvm::MapVector<const Site *, Finding> Found;
    bool HasPoints = false;
  };

  static Finding allOf(std::vector<Finding> All) {
    constexpr size_t NotesMax = 3;
    Finding F = std::move(All.front());
    F.Message =
        "this program never begins a transaction, and passes no commit point: a crash loses "
        "all that it stores, at " +
        std::to_string(All.size()) + (All.size() == 1 ? " place" : " places");
    for (size_t I = 1; I < All.size(); ++I) {
      F.Count += All[I].Count;
      if (I <= NotesMax)
        F.Notes.push_back({All[I].Where, "so is this store"});
    }
    return F;
  }

  static std::vector<Finding> take(Thread &Of) {
    std::vector<Finding> Taken;
    for (auto &[Where, F] : Of.Found)
      Taken.push_back(std::move(F));
    Of.Found.clear();
    return Taken;
  }

  std::map<unsigned, Thread> Threads;
  bool HasNone = true; ///< no commit point, no beginning
};

} // namespace nvmove::crash
