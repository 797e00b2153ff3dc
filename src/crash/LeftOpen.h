// Transactions that are open where the trace ends.
//
// It is an error of the program when the thread that ended it, by exit, had one open: then all that
// it committed inside was lost. Otherwise another thread may have ended the program (also one that
// the trace does not know, for it never stored), or a signal, and that is what transactions are
// for: a warning.
#pragma once

#include "crash/OpenOne.h"
#include "crash/Result.h"

namespace nvmove::crash {

inline std::vector<Finding> leftOpen(const Trace &T, const std::map<size_t, OpenOne> &Open) {
  std::vector<Finding> All;
  unsigned Closer = 0; // the thread that ended the program by exit
  for (const Event &E : T.Events)
    if (T.Closed && E.Kind == NVM_TRACE_CLOSED)
      Closer = E.Thread;
  for (const auto &[Id, O] : Open) {
    if (!O.Explicit || !O.Began || !O.First || O.Joined || O.Commits || T.Cut)
      continue;
    All.push_back({"transaction left open",
                   "a transaction that began here was still open when the program ended; commits "
                   "inside it made nothing durable",
                   O.Began,
                   {{O.First, "the first of its stores"}},
                   1,
                   T.Events.size()});
    All.back().IsWarning = !Closer || Closer != O.Thread;
  }
  return All;
}

} // namespace nvmove::crash
