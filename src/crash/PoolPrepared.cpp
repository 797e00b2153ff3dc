// What a trace of a pool says without any state: see PoolExplorer.h.
#include "crash/Dangling.h"
#include "crash/Findings.h"
#include "crash/PoolExplorer.h"
#include "crash/Rules.h"
#include "crash/Telling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace nvmove::crash {

namespace {

std::string withPlace(const Trace &T, uint64_t Point) {
  const Site *Where = T.site(Point);
  return Where ? " (" + Where->File + ":" + std::to_string(Where->Line) + ")" : "";
}

void addOtherPools(const Trace &T, Result &R) {
  if (T.OtherOpenings)
    R.NotDone.push_back("another pool was opened (" + std::to_string(T.OtherOpenings) + " times)" +
                        (T.OtherPools.empty() ? "" : ", " + llvm::join(T.OtherPools, ", ")) +
                        ": nothing of that is known, only the first pool is traced");
  for (uint64_t Point : T.Together)
    R.NotDone.push_back("one transaction changed both pools" + withPlace(T, Point) +
                        ": each commits by itself, and a crash in between leaves one of the "
                        "changes without the other");
}

} // namespace

/// Code without trace does, too.
static bool changesPool(const Trace &T) {
  return llvm::any_of(T.Events, [](const Event &E) {
    return E.Kind == NVM_TRACE_NOTE || E.Kind == NVM_TRACE_UNSEEN || E.Kind == NVM_TRACE_ALLOC ||
           E.Kind == NVM_TRACE_COMMIT;
  });
}

Result preparedPool(const Trace &T, const Options &O) {
  Result R;
  if (!O.Only) {
    History H(T);
    Stores All(T);
    applyRules(T, R);
    tellConflicts({T, H, All}, R);
    findDangling(T, H, All, O, R);
  }
  R.Method = T.Method;
  R.Threads = T.Threads;
  R.Ended = howItFailed(T);
  addOtherPools(T, R);
  if (T.Children)
    R.NotDone.push_back("children were forked (" + std::to_string(T.Children) +
                        "): what they do is not known; they cannot change the pool");
  bool Untold = T.Points.empty() && changesPool(T);
  R.LocksUnseen = Untold;
  if (Untold)
    R.NotDone.push_back("the program is not built with nvmove-cc -g --nvmove-trace: stores outside "
                        "transactions, output, locks and calls were not seen");
  if (std::string Sources = untracedSources(T); !Sources.empty() && !Untold)
    R.NotDone.push_back(Sources + "stores there outside transactions, and what is printed there, "
                                  "were not seen");
  R.Cut = T.Cut || T.OtherOpenings || Untold || !T.Untraced.empty();
  if (T.Full)
    R.NotDone.push_back("the trace was full (--trace-max): what the program did then is not known");
  else if (T.Cut)
    R.NotDone.push_back("the trace ends within a record: what the program did then is not known");
  R.Unclosed = !T.Closed && !T.Cut;
  if (R.Unclosed)
    R.NotDone.push_back(howItEnded(T) + " and did not close its pool: stores that nobody saw were "
                                        "not looked for in all of it");
  if (T.Refused)
    R.NotDone.push_back("an opening of the pool failed (" + std::to_string(T.Refused) +
                        " times): what it did to the file counts as done by somebody else");
  if (!R.Commits && !R.Stores && !Untold)
    R.NotDone.push_back("the run stored nothing in the pool, and committed nothing");
  for (const std::string &File : T.Shared)
    R.NotDone.push_back(File + " is mapped shared and for writing: what the program stores there "
                               "leaves the process at once, and is not looked at");
  return R;
}

} // namespace nvmove::crash
