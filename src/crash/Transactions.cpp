// Transactions and right states: see Transactions.h.
#include "crash/Transactions.h"

#include "crash/LockOrder.h"

#include <algorithm>

namespace nvmove::crash {
namespace {

void store(Data &Lines, uint64_t Place, llvm::StringRef Bytes) {
  for (size_t I = 0; I < Bytes.size(); ++I)
    Lines[(Place + I) / LineSize].set((Place + I) % LineSize, Bytes[I]);
}

void erase(Data &Lines, uint64_t Place, uint64_t Bytes) {
  auto At = Lines.lower_bound(Place / LineSize);
  while (At != Lines.end() && At->first * LineSize < Place + Bytes) {
    At->second.Mask &= ~maskOf(At->first, Place, Place + Bytes);
    At = At->second.Mask ? std::next(At) : Lines.erase(At);
  }
}

/// Sorts the events of a trace by transaction.
class Collector {
public:
  explicit Collector(const Trace &T) : T(T) {}

  std::vector<Transaction> run() {
    for (size_t At = 0; At < T.Events.size(); ++At)
      take(At);
    for (auto &[Thread, O] : Open) // the process ended in the middle of a commit
      if (O.Committing)
        end(O, SIZE_MAX);
    return inOrder();
  }

private:
  struct OpenOne {
    size_t Id = 0;
    std::vector<size_t> Events; ///< stores, allocations and frees
    std::vector<size_t> Late;   ///< behind Committing, by a signal handler: the next one's
    size_t Began = SIZE_MAX, Committing = 0;
    bool IsSplit = false;
    std::set<size_t> Needs; ///< what it depended on then
  };

  void take(size_t At) {
    const Event &E = T.Events[At];
    switch (E.Kind) {
    case NVM_TRACE_BEGIN:
      of(E.Thread).Began = At;
      break;
    case NVM_TRACE_POINT:
      of(E.Thread).IsSplit |= E.Extra == 1;
      break;
    case NVM_TRACE_STORE:
    case NVM_TRACE_ALLOC:
    case NVM_TRACE_FREE:
      changesOf(E.Thread).push_back(At);
      break;
    case NVM_TRACE_COMMITTING:
      begin(of(E.Thread), At);
      break;
    case NVM_TRACE_COMMIT:
      if (!of(E.Thread).Committing)
        begin(of(E.Thread), At);
      end(of(E.Thread), At);
      goOn(E.Thread);
      break;
    case NVM_TRACE_ABORT:
      over(of(E.Thread).Id);
      goOn(E.Thread);
      break;
    case NVM_TRACE_JOIN:
      Order.depend(E.Thread, of(E.Thread).Id);
      Joined[E.Extra] = of(E.Thread);
      Open.erase(E.Thread);
      break;
    case NVM_TRACE_ADOPT:
      adopt(of(E.Thread), Joined[E.Extra]);
      break;
    case NVM_TRACE_RELEASE: {
      auto Found = Open.find(E.Thread);
      bool Stored = Found != Open.end() && !Found->second.Events.empty();
      Order.release(E.Thread, E.Place, Stored ? Found->second.Id : 0);
      break;
    }
    case NVM_TRACE_ACQUIRE:
      Order.acquire(E.Thread, E.Place);
      break;
    default:
      break;
    }
  }

  void begin(OpenOne &O, size_t At) {
    O.Committing = At;
    O.Needs = Order.needs(T.Events[At].Thread);
  }

  OpenOne &of(unsigned Thread) {
    auto [At, Fresh] = Open.try_emplace(Thread);
    if (Fresh)
      At->second.Id = ++Ids;
    return At->second;
  }

  /// A commit takes what was stored before it began.
  std::vector<size_t> &changesOf(unsigned Thread) {
    OpenOne &O = of(Thread);
    return O.Committing ? O.Late : O.Events;
  }

  /// With the next transaction, if there is something of it.
  void goOn(unsigned Thread) {
    std::vector<size_t> Late = std::move(of(Thread).Late);
    Open.erase(Thread);
    if (!Late.empty())
      of(Thread).Events = std::move(Late);
  }

  void over(size_t Id) {
    Order.end(Id);
    for (size_t Part : Parts[Id])
      over(Part);
  }

  void adopt(OpenOne &Into, const OpenOne &From) {
    Parts[Into.Id].push_back(From.Id);
    AdoptedBy[From.Id] = Into.Id;
    std::vector<size_t> Both;
    std::merge(Into.Events.begin(), Into.Events.end(), From.Events.begin(), From.Events.end(),
               std::back_inserter(Both));
    Into.Events = std::move(Both);
  }

  void end(OpenOne &O, size_t At) {
    Transaction Made;
    for (size_t Event : O.Events) {
      const crash::Event &E = T.Events[Event];
      if (E.Kind == NVM_TRACE_STORE)
        store(Made.Lines, E.Place, E.Bytes);
      else
        (E.Kind == NVM_TRACE_ALLOC ? Made.Allocated : Made.Freed).push_back({E.Place, E.Extra});
    }
    Made.Thread = T.Events[O.Committing].Thread;
    Made.Began = O.Events.empty() ? O.Began : std::min(O.Began, O.Events.front());
    Made.Committing = O.Committing;
    Made.IsSplit = O.IsSplit;
    Made.End = At;
    Made.DependsOn.assign(O.Needs.begin(), O.Needs.end());
    over(O.Id);
    Done.push_back({O.Id, std::move(Made)});
  }

  /// Sorted, with places in the list instead of ids.
  std::vector<Transaction> inOrder() {
    std::sort(Done.begin(), Done.end(), [](const auto &A, const auto &B) {
      return std::pair(A.second.End, A.second.Committing) <
             std::pair(B.second.End, B.second.Committing);
    });
    llvm::DenseMap<size_t, size_t> Number;
    for (size_t N = 0; N < Done.size(); ++N)
      Number[Done[N].first] = N;
    std::vector<Transaction> Result;
    for (auto &[Id, Made] : Done) {
      std::vector<size_t> Known;
      for (size_t On : Made.DependsOn) {
        while (AdoptedBy.count(On))
          On = AdoptedBy[On];
        if (auto Found = Number.find(On); On != Id && Found != Number.end())
          Known.push_back(Found->second);
      }
      Made.DependsOn = std::move(Known);
      Result.push_back(std::move(Made));
    }
    return Result;
  }

  const Trace &T;
  std::map<unsigned, OpenOne> Open; ///< by thread
  std::map<uint64_t, OpenOne> Joined;
  LockOrder Order;
  std::map<size_t, std::vector<size_t>> Parts; ///< of a transaction: what joined it
  std::map<size_t, size_t> AdoptedBy;
  std::vector<std::pair<size_t, Transaction>> Done;
  size_t Ids = 0;
};

} // namespace

uint64_t maskOf(uint64_t Line, uint64_t From, uint64_t To) {
  uint64_t First = Line * LineSize, Mask = ~uint64_t(0);
  if (From >= First + LineSize || To <= First)
    return 0;
  if (From > First)
    Mask &= ~uint64_t(0) << (From - First);
  if (To < First + LineSize)
    Mask &= ~uint64_t(0) >> (First + LineSize - To);
  return Mask;
}

std::vector<Transaction> transactionsOf(const Trace &T) { return Collector(T).run(); }

void Transaction::apply(Data &D) const {
  // A block's bytes mean nothing before the program stores them.
  for (auto [Place, Bytes] : Allocated)
    erase(D, Place, Bytes);
  for (const auto &[Line, New] : Lines) {
    LineBytes &Kept = D[Line];
    for (uint64_t Mask = New.Mask; Mask; Mask &= Mask - 1) {
      unsigned I = static_cast<unsigned>(__builtin_ctzll(Mask));
      Kept.set(I, New.Bytes[I]);
    }
  }
  for (auto [Place, Bytes] : Freed)
    erase(D, Place, Bytes);
}

History::History(const Trace &T) : All(transactionsOf(T)) {
  for (size_t N = 0; N < All.size(); ++N) {
    Begins[All[N].Committing] = N;
    if (All[N].End != SIZE_MAX)
      Ends[All[N].End] = N;
  }
  for (const Event &E : T.Events)
    if (E.Kind == NVM_TRACE_UNSEEN || (E.Kind == NVM_TRACE_STORE && !E.Covered))
      for (uint64_t At = E.Place; At < E.Place + E.Bytes.size(); ++At)
        Unseen[At / LineSize] |= uint64_t(1) << At % LineSize;
}

uint64_t History::unknown(uint64_t Line) const {
  auto Found = Unseen.find(Line);
  return Found == Unseen.end() ? 0 : Found->second;
}

void History::forget(uint64_t Place, uint64_t Bytes) {
  for (auto At = Lines.lower_bound(Place / LineSize);
       At != Lines.end() && At->first * LineSize < Place + Bytes; ++At)
    Changed.push_back(At->first);
  erase(Lines, Place, Bytes);
}

bool History::pass(const Trace &T, size_t At) {
  bool Others = false;
  if (auto Found = Begins.find(At); Found != Begins.end()) {
    Open.push_back(Found->second);
    std::sort(Open.begin(), Open.end());
    Others = true;
  }
  if (auto Found = Ends.find(At); Found != Ends.end()) {
    const Transaction &C = All[Found->second];
    Open.erase(std::find(Open.begin(), Open.end(), Found->second));
    for (const auto *Blocks : {&C.Allocated, &C.Freed})
      for (auto [Place, Bytes] : *Blocks)
        for (auto Line = Lines.lower_bound(Place / LineSize);
             Line != Lines.end() && Line->first * LineSize < Place + Bytes; ++Line)
          Changed.push_back(Line->first);
    for (const auto &[Line, New] : C.Lines)
      Changed.push_back(Line);
    C.apply(Lines);
    ++Now;
    Others = true;
  }
  const Event &E = T.Events[At];
  if (E.Kind == NVM_TRACE_CHANGED) {
    forget(E.Place, E.Bytes.size());
    Others = true;
  }
  return Others;
}

} // namespace nvmove::crash
