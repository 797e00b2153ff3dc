// The share of one process: see Share.h.
#include "crash/Share.h"

#include "crash/Judge.h"

#include <algorithm>
#include <sched.h>

namespace nvmove::crash {
namespace {

/// So little of each moment that all failure points are reached soon.
constexpr Limits FirstLimits = {64, 16, 32}, SecondLimits = {256, 32, 128};
constexpr uint64_t SecondPerPoint = 8;

Limits least(const Limits &A, const Limits &B) {
  return {std::min(A.EpochMax, B.EpochMax), std::min(A.Samples, B.Samples),
          std::min(A.Alone, B.Alone), std::min(A.Words, B.Words)};
}

uint64_t leastTimes(uint64_t A, uint64_t B) { return A && B ? std::min(A, B) : A + B; }

std::chrono::steady_clock::time_point endOf(double Seconds) {
  using Clock = std::chrono::steady_clock;
  if (Seconds <= 0)
    return Clock::time_point::max();
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(Seconds));
}

} // namespace

Share::Share(const Options &O, Board &B, unsigned Index, unsigned Count)
    : O(O), B(B), Index(Index), Count(Count), End(endOf(O.Seconds)) {}

std::vector<Look> Share::looks() const {
  Look All{O.Each, O.PerPoint};
  All.IsFirst = All.IsLast = true;
  if (O.Only || O.What == Model::Disk)
    return {All};
  Look First{least(FirstLimits, O.Each), leastTimes(1, O.PerPoint), true},
      Second{least(SecondLimits, O.Each), leastTimes(SecondPerPoint, O.PerPoint)};
  All.IsFirst = false;
  return {First, Second, All};
}

uint64_t Share::numberOf(uint64_t Image, uint64_t Key) {
  constexpr uint64_t Spread = 0x9e3779b97f4a7c15;
  if (!Seen.insert(Image + Key * Spread).second)
    return 0;
  Images.insert(Image);
  return ++Numbers;
}

bool Share::goesOn(size_t Event) {
  if (Stopped)
    return false;
  B.Event = Event;
  TimeUp = std::chrono::steady_clock::now() >= End;
  Stopped = TimeUp || B.Hangs >= HangsMax || B.Stop ||
            (O.Watching && !O.Watching->goesOn(Event, B.States));
  return !Stopped;
}

unsigned jobsOf(const Options &O) {
  if (O.Only || (!O.Jobs && !O.Command.empty()))
    return 1;
  cpu_set_t Allowed;
  unsigned Count = O.Jobs;
  if (!Count)
    Count = sched_getaffinity(0, sizeof Allowed, &Allowed) ? 1 : unsigned(CPU_COUNT(&Allowed));
  return std::clamp(Count, 1u, JobsMax);
}

} // namespace nvmove::crash
