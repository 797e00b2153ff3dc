// Which fences are the same failure point: the same place of the source, reached by the same calls,
// and as many fences behind it.
//
// The place is the last one that the trace names for the thread: of a store, a beginning, a commit,
// a call.
#pragma once

#include "crash/Trace.h"

#include <map>

namespace nvmove::crash {

class FailurePoints {
public:
  using Where = std::pair<uint64_t, uint64_t>; ///< a point of the trace, fences since

  /// \p TimesMax: how often each is to be explored; 0: always.
  explicit FailurePoints(uint64_t TimesMax) : TimesMax(TimesMax) {}

  void pass(const Event &E) {
    if (E.Extra && hasSite(E.Kind))
      Last[E.Thread] = {E.Extra, 0};
  }

  /// The thread is at the next one; false: it was there often enough.
  bool enter(unsigned Thread) {
    auto &[Site, Fences] = Last[Thread];
    return ++Times[{Site, Fences++}] <= TimesMax || !TimesMax;
  }

  /// Different ones, so far.
  size_t count() const { return Times.size(); }

private:
  static bool hasSite(nvm_trace_kind Kind) {
    return Kind == NVM_TRACE_STORE || Kind == NVM_TRACE_BEGIN || Kind == NVM_TRACE_COMMITTING ||
           Kind == NVM_TRACE_ABORT || Kind == NVM_TRACE_UNSEEN || Kind == NVM_TRACE_OUTPUT ||
           Kind == NVM_TRACE_RELEASE || Kind == NVM_TRACE_ASKED;
  }

  uint64_t TimesMax;
  std::map<unsigned, Where> Last; ///< by thread
  std::map<Where, uint64_t> Times;
};

} // namespace nvmove::crash
