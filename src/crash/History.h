// What the program's data was after each commit: the states that are right.
//
// Taken from the stores of the trace alone. Only bytes count that the program ever stored, in
// blocks that are allocated in that state: everything else is the runtime's own business.
#pragma once

#include "crash/Trace.h"

#include <map>

namespace nvmove::crash {

/// Some bytes of a line.
struct LineBytes {
  uint64_t Mask = 0;
  char Bytes[LineSize];

  void set(unsigned At, char Byte) {
    Mask |= uint64_t(1) << At;
    Bytes[At] = Byte;
  }
};

/// What one transaction changed.
struct Commit {
  std::map<uint64_t, LineBytes> Lines;                         ///< by number of the line
  std::vector<std::pair<uint64_t, uint64_t>> Allocated, Freed; ///< place, bytes
  size_t End = 0;                                              ///< index of its COMMIT event
};

/// The commits of \p T in order. Empty when several threads wrote: then which states are right
/// depends on what they agreed on.
std::vector<Commit> commitsOf(const Trace &T);

/// The program's data after the first N commits.
class History {
public:
  explicit History(const Trace &T) : Commits(commitsOf(T)) {}

  size_t commits() const { return Commits.size(); }
  const Commit &commit(size_t N) const { return Commits[N]; }
  /// Goes on by one commit.
  void advance();
  size_t now() const { return Now; }
  /// Every byte that was stored and is allocated now, by line.
  const std::map<uint64_t, LineBytes> &lines() const { return Lines; }

private:
  void forget(uint64_t Place, uint64_t Bytes);

  std::vector<Commit> Commits;
  std::map<uint64_t, LineBytes> Lines;
  size_t Now = 0;
};

} // namespace nvmove::crash
