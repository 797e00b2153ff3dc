// Which states a crash can leave at one moment of a trace: one version of each dirty line.
#pragma once

#include "crash/Media.h"

#include <functional>
#include <random>

namespace nvmove::crash {

/// Of one moment: which choices are taken.
struct Limits {
  uint64_t EpochMax = 4096; ///< choices up to which all are taken
  uint64_t Samples = 256;   ///< of a moment with more
  uint64_t Alone = 1024;    ///< of its lines and moments that are taken one by one
  uint64_t Words = 64;      ///< of a store, behind which a process may die
};

class Walk {
public:
  Walk(const Media &M, const Limits &L, uint64_t Seed, std::function<void(const Choices &)> Take)
      : M(M), L(L), Random(Seed), Take(std::move(Take)) {}

  /// All the choices, or (false) all and none, each line lost alone and kept alone, every moment in
  /// between, and a sample.
  bool epoch();
  /// The same when all can be taken, else nothing.
  void epochIfSmall();
  /// How many choices epoch() takes with other limits; some of them may be the same.
  uint64_t countOf(const Limits &Each) const;
  /// The same of epochIfSmall(), and of latest().
  uint64_t countIfSmall(const Limits &Each) const;
  uint64_t countOfLatest() const;
  /// Every store is there; and of the last one each word with those below it, or some of many.
  void latest();
  /// Each sector as it was at some moment: all at the same, one alone at the first, and a sample.
  void sectors();

private:
  static uint64_t productOf(const Choices &All, uint64_t Most);
  bool isSmall(const Choices &All) const;
  void exhaust(Choices &All);
  void sample(Choices &All);
  void choose(Choices &All, size_t From, size_t To, size_t Moment, size_t Version::*By);

  const Media &M;
  Limits L;
  std::mt19937_64 Random;
  std::function<void(const Choices &)> Take;
};

} // namespace nvmove::crash
