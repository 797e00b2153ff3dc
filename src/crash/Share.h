// What of a trace one process explores, and until when.
//
// Several processes explore a trace together. Each goes through all of it and numbers the states
// alike, in the order in which they come; of these it judges its share. So what is judged does not
// depend on how many processes there are, as long as none is stopped.
//
// Look: one way through the trace. The first look takes each failure point once, and few of its
// states; the last one takes all that is to be taken. A state that one look has judged is known to
// the next. When the time is over, or somebody stops it, what is left of the looks is left out.
#pragma once

#include "crash/Options.h"

#include <atomic>
#include <chrono>
#include <unordered_set>

namespace nvmove::crash {

/// Each process has an image of its own, and goes through all of the trace.
constexpr unsigned JobsMax = 16;

struct Look {
  Limits Each;
  uint64_t PerPoint = 0; ///< how often each failure point is explored; 0: always
  bool IsFirst = false, IsLast = false;
};

/// In memory that all processes have.
struct Board {
  std::atomic<bool> Stop{false};
  std::atomic<unsigned> Hangs{0};
  std::atomic<uint64_t> States{0}; ///< judged
  std::atomic<size_t> Event{0};    ///< where one of them is
};

class Share {
public:
  /// Number \p Index of \p Count. \p B and \p O outlive it. The time begins now.
  Share(const Options &O, Board &B, unsigned Index, unsigned Count);

  std::vector<Look> looks() const;

  /// The number of a state, from 1; 0: it was there before, with this image and \p Key.
  uint64_t numberOf(uint64_t Image, uint64_t Key);
  /// Of a state, or of what else only one process does.
  bool isMine(uint64_t Number) const { return Number % Count == Index; }
  /// Different images that were there, judged by whomever.
  uint64_t images() const { return Images.size(); }
  /// Of the state that came last.
  uint64_t numbers() const { return Numbers; }

  /// Asked at each event, and before each state. False: nothing further is judged.
  bool goesOn(size_t Event);
  bool isStopped() const { return Stopped; }
  bool isTimeUp() const { return TimeUp; }
  void countState() { ++B.States; }
  void countHang() { ++B.Hangs; }
  unsigned hangs() const { return B.Hangs; }

  bool WasOpened = false; ///< the pool, in some state that has a number

private:
  const Options &O;
  Board &B;
  unsigned Index, Count;
  std::chrono::steady_clock::time_point End;
  uint64_t Numbers = 0;
  std::unordered_set<uint64_t> Seen, Images;
  bool Stopped = false, TimeUp = false;
};

/// How many processes explore: as \p O says, or one for each processor. If \p O does not say, a
/// checker that is a command has one: two at once might write the same file.
unsigned jobsOf(const Options &O);

} // namespace nvmove::crash
