// A trace explored: see Explorer.h.
#include "crash/Explorer.h"

#include "crash/Callers.h"
#include "crash/Findings.h"
#include "crash/PoolExplorer.h"
#include "crash/RawExplorer.h"
#include "crash/Together.h"
#include "support/Failed.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <chrono>

namespace nvmove::crash {

using support::failed;

llvm::Expected<Result> explore(const Trace &T, const Options &O) {
  auto Start = std::chrono::steady_clock::now();
  if (T.Raw)
    if (llvm::Error E = checkRaw(O))
      return std::move(E);
  Result R = T.Raw ? preparedRaw(T, O) : preparedPool(T, O);
  tellFindings(O, R);
  llvm::Expected<Result> Explored = exploreTogether(O, [&](const Options &Mine, Share &S) {
    return T.Raw ? exploreRaw(T, Mine, S) : explorePool(T, Mine, S);
  });
  if (!Explored)
    return Explored.takeError();
  addExplored(R, std::move(*Explored));
  R.Distinct = std::min(R.Distinct, R.States); // counted were those that were not judged, too
  if (R.CommandFails)
    return failed("the checker '" + O.Command + "' cannot be run");
  if (O.Only && !R.States)
    return failed("no state '" + O.Only->text() + "' in this trace, under this model");
  R.Seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - Start).count();
  tellStopped(T, O, R);
  if (T.Raw)
    finishRaw(R);
  else if (!R.Recoveries.All && O.InterruptEvery && !O.Only && O.What != Model::Disk &&
           R.StoppedAt == SIZE_MAX)
    R.NotDone.push_back("recovery was made to fail in no state; --interrupt-every says in which");
  nameCallers(T, R);
  return R;
}

} // namespace nvmove::crash
