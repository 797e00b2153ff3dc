// Rules for programs that flush by themselves: see RawRules.h.
#include "crash/RawRules.h"

#include "crash/Findings.h"

#include <map>
#include <sys/wait.h>

namespace nvmove::crash {
namespace {

/// What a line of the file is on its way to.
struct LineState {
  const Event *Stored = nullptr;  ///< the last store that no flush followed
  const Event *Flushed = nullptr; ///< the last flush that no fence of its thread followed
  const Event *Last = nullptr;    ///< the last flush at all
};

class RawRules {
public:
  RawRules(const Trace &T, Result &R) : T(T), R(R) {}

  void run() {
    for (At = 0; At < T.Events.size(); ++At)
      take(T.Events[At]);
    if (T.Cut || (T.Status && WIFSIGNALED(*T.Status)))
      return; // what would have come behind may flush
    for (const auto &[Line, S] : Lines)
      if (S.Stored)
        tellUnflushed(S);
      else if (S.Flushed)
        tellUnfenced(S);
  }

private:
  void take(const Event &E) {
    switch (E.Kind) {
    case NVM_TRACE_STORE:
    case NVM_TRACE_UNSEEN:
      R.Stores += E.Kind == NVM_TRACE_STORE;
      forLines(E.Place, E.Bytes.size(), [&](LineState &S) { S.Stored = &E; });
      return;
    case NVM_TRACE_STREAM:
      ++R.Stores;
      await(E);
      return;
    case NVM_TRACE_FLUSH:
      takeFlush(E, E.Bytes.size());
      await(E);
      return;
    case NVM_TRACE_SYNC:
      if (bytesOfSync(E) == LineSize) // msync and fsync take what is there
        takeFlush(E, LineSize);
      takeSync(E, bytesOfSync(E));
      return;
    case NVM_TRACE_FENCE:
      for (LineState *S : std::exchange(Awaited[E.Thread], {}))
        if (S->Flushed && S->Flushed->Thread == E.Thread)
          S->Flushed = nullptr;
      return;
    default:
      return;
    }
  }

  template <class F> void forLines(uint64_t Place, uint64_t Bytes, F Do) {
    for (uint64_t Line = Place / LineSize; Bytes && Line <= (Place + Bytes - 1) / LineSize; ++Line)
      Do(Lines[Line]);
  }

  /// Of a whole file most lines were never stored to: they are left out.
  void takeSync(const Event &E, uint64_t Bytes) {
    for (auto At = Lines.lower_bound(E.Place / LineSize);
         Bytes && At != Lines.end() && At->first <= (E.Place + Bytes - 1) / LineSize; ++At) {
      At->second.Last = &E;
      At->second.Stored = At->second.Flushed = nullptr;
    }
  }

  void await(const Event &E) {
    forLines(E.Place, E.Bytes.size(), [&](LineState &S) {
      S.Flushed = S.Last = &E;
      Awaited[E.Thread].push_back(&S);
    });
  }

  /// Warns where all of what is flushed has been flushed since it was stored.
  void takeFlush(const Event &E, uint64_t Bytes) {
    bool Needless = true;
    const Event *Before = nullptr;
    forLines(E.Place, Bytes, [&](LineState &S) {
      Needless &= !S.Stored;
      Before = S.Last ? S.Last : Before;
      S.Stored = nullptr;
    });
    if (!Needless || !Before || !T.site(E.Extra))
      return; // of a range some lines may never have been stored to
    Finding F{"redundant flush", "nothing new was stored there since it was flushed last"};
    F.Where = T.site(E.Extra);
    F.Point = E.Extra;
    F.Event = At;
    F.IsWarning = true;
    if (T.site(Before->Extra))
      F.Notes.push_back({T.site(Before->Extra), "flushed here before"});
    addFinding(R, std::move(F));
  }

  void tellUnflushed(const LineState &S) {
    bool Unseen = S.Stored->Kind == NVM_TRACE_UNSEEN;
    Finding F{NeverFlushed,
              std::string(Unseen ? "code that nobody compiled for the trace stored here, or before,"
                                 : "what is stored here") +
                  " is flushed nowhere after it: a power failure may lose it at any time"};
    F.Where = T.site(S.Stored->Extra);
    F.Point = S.Stored->Extra;
    F.Event = static_cast<size_t>(S.Stored - T.Events.data());
    if (S.Last && T.site(S.Last->Extra))
      F.Notes.push_back({T.site(S.Last->Extra), "the line was flushed here, before that"});
    addFinding(R, std::move(F));
  }

  void tellUnfenced(const LineState &S) {
    Finding F{"never fenced", "what is flushed here is not on its way for sure: no fence of this "
                              "thread follows"};
    F.Where = T.site(S.Flushed->Extra);
    F.Point = S.Flushed->Extra;
    F.Event = static_cast<size_t>(S.Flushed - T.Events.data());
    addFinding(R, std::move(F));
  }

  const Trace &T;
  Result &R;
  std::map<uint64_t, LineState> Lines;
  std::map<unsigned, std::vector<LineState *>> Awaited; ///< thread -> what its next fence ends
  size_t At = 0;
};

} // namespace

void applyRawRules(const Trace &T, Result &R) { RawRules(T, R).run(); }

} // namespace nvmove::crash
