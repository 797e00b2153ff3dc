// Rules on a trace: see Rules.h.
#include "crash/Rules.h"

#include "llvm/Support/FormatVariadic.h"

#include <set>

namespace nvmove::crash {
namespace {

constexpr size_t FindingsMax = 100; ///< more are no help to anybody

/// The bytes that a thread's open transaction noted.
class Noted {
public:
  void add(uint64_t Place, uint64_t Bytes) {
    for (uint64_t At = Place; At < Place + Bytes; ++At)
      Masks[At / LineSize] |= uint64_t(1) << At % LineSize;
  }
  bool has(uint64_t Place) const {
    auto Found = Masks.find(Place / LineSize);
    return Found != Masks.end() && Found->second >> Place % LineSize & 1;
  }
  bool hasAll(uint64_t Place, uint64_t Bytes) const {
    for (uint64_t At = Place; At < Place + Bytes; ++At)
      if (!has(At))
        return false;
    return true;
  }
  void clear() { Masks.clear(); }

private:
  llvm::DenseMap<uint64_t, uint64_t> Masks;
};

std::string fieldOf(const Site &S) { return S.Field.empty() ? "" : " to " + S.Field; }

struct ThreadState {
  Noted Bytes;
  bool InTransaction = false;
  const Site *Last = nullptr;
  const Site *Uncommitted = nullptr; ///< the first store that is not committed
};

void takeStore(const Trace &T, size_t Index, ThreadState &Thread, Result &R) {
  const Event &E = T.Events[Index];
  const Site *Where = T.site(E.Extra);
  ++R.Stores;
  if (!Where)
    return;
  Thread.Last = Where;
  if (!Thread.Uncommitted)
    Thread.Uncommitted = Where;
  if (!Thread.Bytes.hasAll(E.Place, E.Bytes.size()))
    addFinding(R, {"unlogged store",
                   llvm::formatv("store of {0} bytes{1} is covered by no log entry", E.Bytes.size(),
                                 fieldOf(*Where))
                       .str(),
                   Where,
                   {},
                   1,
                   Index});
  else if (!Thread.InTransaction)
    addFinding(R,
               {"write outside a transaction",
                llvm::formatv("store of {0} bytes{1} outside any transaction: it becomes durable "
                              "with the next one, and is lost by a crash before",
                              E.Bytes.size(), fieldOf(*Where))
                    .str(),
                Where,
                {},
                1,
                Index});
}

void takeUnseen(const Trace &T, size_t Index, const ThreadState &Thread, Result &R) {
  const Event &E = T.Events[Index];
  Finding F{"unseen store",
            llvm::formatv("byte {0:x} of the pool was changed by code that nothing instruments or "
                          "describes; a crash can lose or tear it",
                          E.Place)
                .str(),
            nullptr,
            {},
            1,
            Index};
  if (Thread.Last)
    F.Notes.push_back({Thread.Last, "it happened after this store"});
  // Neighbouring bytes are one store.
  if (!R.Findings.empty() && R.Findings.back().Kind == F.Kind && Index &&
      T.Events[Index - 1].Kind == NVM_TRACE_UNSEEN && T.Events[Index - 1].Place + 1 == E.Place)
    return;
  addFinding(R, std::move(F));
}

/// Whoever reads it takes for done what a crash undoes.
void takeOutput(const Trace &T, size_t Index, const ThreadState &Thread, Result &R) {
  constexpr uint64_t Stderr = 2;
  const Event &E = T.Events[Index];
  const Site *Where = T.site(E.Extra);
  if (!Thread.Uncommitted || !Where || E.Place == Stderr)
    return;
  addFinding(R, {"output before commit",
                 "this leaves the process while stores are not committed: after a crash they never "
                 "happened",
                 Where,
                 {{Thread.Uncommitted, "the first of those stores"}},
                 1,
                 Index});
}

} // namespace

void addFinding(Result &R, Finding F) {
  for (Finding &Known : R.Findings)
    if (Known.Kind == F.Kind && Known.Where == F.Where && (F.Where || Known.Message == F.Message)) {
      ++Known.Count;
      return;
    }
  if (R.Findings.size() < FindingsMax)
    R.Findings.push_back(std::move(F));
  else
    ++R.Omitted;
}

void applyRules(const Trace &T, Result &R) {
  std::map<unsigned, ThreadState> Threads;
  for (size_t I = 0; I < T.Events.size(); ++I) {
    const Event &E = T.Events[I];
    ThreadState &Thread = Threads[E.Thread];
    switch (E.Kind) {
    case NVM_TRACE_NOTE:
      Thread.Bytes.add(E.Place, E.Extra);
      break;
    case NVM_TRACE_BEGIN:
      Thread.InTransaction = true;
      break;
    case NVM_TRACE_COMMIT:
    case NVM_TRACE_ABORT:
      R.Commits += E.Kind == NVM_TRACE_COMMIT;
      Thread.InTransaction = false;
      Thread.Uncommitted = nullptr;
      Thread.Bytes.clear();
      break;
    case NVM_TRACE_STORE:
      takeStore(T, I, Thread, R);
      break;
    case NVM_TRACE_UNSEEN:
      takeUnseen(T, I, Thread, R);
      break;
    case NVM_TRACE_OUTPUT:
      takeOutput(T, I, Thread, R);
      break;
    default:
      break;
    }
  }
}

Guilty guiltyStore(const Trace &T, size_t Before, uint64_t Place) {
  Guilty Found;
  for (size_t I = std::min(Before, T.Events.size()); I-- > 0;) {
    const Event &E = T.Events[I];
    bool Touches = Place >= E.Place && Place < E.Place + E.Bytes.size();
    if (!Touches || (E.Kind != NVM_TRACE_STORE && E.Kind != NVM_TRACE_UNSEEN))
      continue;
    Found.Unseen = E.Kind == NVM_TRACE_UNSEEN;
    Found.Where = T.site(E.Extra);
    for (size_t J = I; J-- > 0 && !Found.Covered;) {
      const Event &N = T.Events[J];
      if (N.Thread == E.Thread && (N.Kind == NVM_TRACE_COMMIT || N.Kind == NVM_TRACE_ABORT))
        break;
      Found.Covered = N.Kind == NVM_TRACE_NOTE && Place >= N.Place && Place < N.Place + N.Extra;
    }
    return Found;
  }
  return Found;
}

} // namespace nvmove::crash
