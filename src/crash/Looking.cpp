// One look: see Looking.h.
#include "crash/Looking.h"

#include <algorithm>

namespace nvmove::crash {

void Looking::run() {
  for (; At < T.Events.size() && !commandFails() && goesOn(); ++At) {
    Points.pass(T.Events[At]);
    AllPoints.pass(T.Events[At]);
    take(T.Events[At]);
  }
  if (goesOn())
    epoch(); // what was still on its way at the end
  R.CommandFails |= commandFails();
  R.FailurePoints = std::max<uint64_t>(R.FailurePoints, Points.count());
  R.Epochs = std::max(R.Epochs, Epochs);
  R.Distinct = std::min(S.images(), S.numbers());
}

bool Looking::goesOn() {
  if (S.goesOn(At))
    return true;
  R.StoppedAt = std::min(R.StoppedAt, At);
  return false;
}

void Looking::epoch() {
  bool Whole = true;
  ++Epochs;
  if (S.numbers() >= O.StatesMax) { // to enumerate them is no help
    ++R.Unexplored;
    return;
  }
  if (O.What == Model::Power)
    Whole = States.epoch();
  else if (O.What == Model::Process)
    States.latest();
  else
    Whole = false; // a sample always
  R.Sampled += (!Whole || M.forgot()) && L.IsLast;
}

void Looking::takeStore(const Event &E) {
  if (L.IsFirst)
    R.Possible += States.countOfLatest();
  if (Points.enter(E.Thread) || L.IsLast)
    States.latest();
  M.keepAll();
}

} // namespace nvmove::crash
