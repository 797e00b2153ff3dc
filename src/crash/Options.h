// What a person may choose of an exploration.
#pragma once

#include "crash/State.h"
#include "crash/Walk.h"
#include "crash/Watch.h"

#include <optional>
#include <string>

namespace nvmove::crash {

struct Options {
  Model What = Model::Power;
  uint64_t StatesMax = 1000000; ///< then the rest is counted as unexplored
  Limits Each;
  uint64_t Seed = 1;
  uint64_t PerPoint = 0; ///< how often each failure point is explored (FailurePoints.h); 0: always
  uint64_t InterruptEvery = 256; ///< states whose recovery is made to fail in its turn; 0: none
  double Seconds = 0;            ///< then no further states are judged; 0: no end
  unsigned Jobs = 1;             ///< processes that explore; 0: as jobsOf() says
  std::string Checker, Command;  ///< the user's, as Judge.h has them
  std::optional<State> Only;     ///< judges this one and no other
  Watch *Watching = nullptr;     ///< not owned; null: nobody looks on
};

} // namespace nvmove::crash
