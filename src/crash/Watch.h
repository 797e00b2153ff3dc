// Who looks on while a trace is explored, and may end it.
#pragma once

#include "crash/Trace.h"

namespace nvmove::crash {

struct Finding;

class Watch {
public:
  virtual ~Watch() = default;
  /// A finding, when it is new; those like it are only counted later.
  virtual void found(const Finding &F) { (void)F; }
  /// Before each state: at this event of the trace, after so many states. False: explore no further.
  virtual bool goesOn(size_t Event, uint64_t States) {
    (void)Event, (void)States;
    return true;
  }
};

} // namespace nvmove::crash
