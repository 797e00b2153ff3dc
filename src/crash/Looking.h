// One look at a trace (Share.h): what looks at pools and at files of other programs have in common.
#pragma once

#include "crash/FailurePoints.h"
#include "crash/Guilty.h"
#include "crash/Refusals.h"
#include "crash/Result.h"
#include "crash/Share.h"

namespace nvmove::crash {

class Looking {
public:
  Looking(const Trace &T, const Options &O, const Look &L, const Stores &All, Media &M,
          Refusals &Known, Share &S, Result &R)
      : T(T), O(O), L(L), All(All), M(M), Known(Known), S(S), R(R),
        States(M, L.Each, O.Seed, [this](const Choices &C) { judge(C); }), Points(L.PerPoint),
        AllPoints(O.PerPoint) {}
  virtual ~Looking() = default;

  /// Goes through the trace, to its end or until it is stopped.
  void run();

protected:
  virtual void take(const Event &E) = 0;
  virtual void judge(const Choices &C) = 0;
  virtual bool commandFails() const = 0;

  /// False: nothing further is judged, and the result says where that was.
  bool goesOn();
  /// The event before which the crash comes: a process dies right behind one, the power fails right
  /// before it.
  size_t moment() const { return At + (O.What == Model::Process ? 1 : 0); }
  /// The states of this moment.
  void epoch();
  /// A failure point of the process model.
  void takeStore(const Event &E);

  const Trace &T;
  const Options &O;
  const Look &L;
  const Stores &All;
  Media &M;
  Refusals &Known;
  Share &S;
  Result &R;
  Walk States;
  FailurePoints Points, AllPoints; ///< AllPoints: of the last look
  size_t At = 0;
  uint64_t Number = 0; ///< of the state that is judged

private:
  uint64_t Epochs = 0;
};

} // namespace nvmove::crash
