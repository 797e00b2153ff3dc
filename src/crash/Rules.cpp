// Rules on a trace: see Rules.h.
#include "crash/Rules.h"

#include "crash/Findings.h"
#include "crash/FreedBlocks.h"
#include "crash/Guilty.h"
#include "crash/LeftOpen.h"
#include "crash/LockOrder.h"
#include "crash/OpenOne.h"
#include "crash/Outputs.h"
#include "crash/Outside.h"
#include "crash/Telling.h"
#include "crash/Unseen.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cstring>

namespace nvmove::crash {
namespace {

class RuleWalk {
public:
  RuleWalk(const Trace &T, Result &R) : T(T), R(R), All(T) {}

  void run() {
    for (At = 0; At < T.Events.size(); ++At) {
      const Event &E = T.Events[At];
      take(E);
      if (isPlace(E) && T.site(E.Extra))
        Last[E.Thread] = T.site(E.Extra);
    }
    addAll(Unmeant.end());
    addAll(leftOpen(T, Open));
  }

private:
  void take(const Event &E) {
    switch (E.Kind) {
    case NVM_TRACE_NOTE:
      own(E);
      break;
    case NVM_TRACE_BEGIN:
      addAll(Unmeant.begin(E.Thread));
      own(E).Explicit = true;
      own(E).Began = T.site(E.Extra);
      break;
    case NVM_TRACE_POINT:
      takePoint(E);
      break;
    case NVM_TRACE_COMMITTING:
      takeCommitting(E);
      break;
    case NVM_TRACE_COMMIT:
      ++R.Commits;
      end(E, true);
      break;
    case NVM_TRACE_ABORT:
      takeAbort(E);
      end(E, false);
      break;
    case NVM_TRACE_JOIN:
      join(E);
      break;
    case NVM_TRACE_ADOPT:
      Parts[Current[E.Thread]].push_back(Parcels[E.Extra]);
      break;
    case NVM_TRACE_RELEASE:
      takeRelease(E);
      break;
    case NVM_TRACE_ACQUIRE:
      Order.acquire(E.Thread, E.Place);
      break;
    case NVM_TRACE_ALLOC:
      Freed.forget(E.Place, E.Extra);
      own(E).Allocated.push_back({E.Place, {E.Extra, 0, lastOf(E.Thread), true}});
      break;
    case NVM_TRACE_CHANGED:
      Freed.clear();
      break;
    case NVM_TRACE_FREE:
      own(E);
      takeFree(E);
      break;
    case NVM_TRACE_STORE:
      takeStore(E);
      break;
    default:
      takeOther(E);
      break;
    }
  }

  /// What is no step of a transaction.
  void takeOther(const Event &E) {
    switch (E.Kind) {
    case NVM_TRACE_UNSEEN:
      takeUnseen(E);
      break;
    case NVM_TRACE_OUTPUT:
      takeOutput(E);
      break;
    case NVM_TRACE_POINTER:
      own(E).Outside[E.Place] = At;
      break;
    case NVM_TRACE_UNSAFE:
      takeUnsafe(E);
      break;
    case NVM_TRACE_ASKED:
      takeFlush(E);
      break;
    case NVM_TRACE_FAILED:
      R.Failed.push_back({T.site(E.Extra), E.Place});
      break;
    case NVM_TRACE_HANDLER:
      add("begin in a signal handler",
          "a signal handler begins a transaction: it may interrupt another one, and commit half of "
          "it, or the library",
          T.site(E.Extra));
      break;
    default:
      break;
    }
  }

  /// The release of a lock commits what a thread without commit points has stored.
  void takePoint(const Event &E) {
    constexpr uint64_t OfLock = 2, OfNothing = 3;
    if (E.Extra == OfNothing)
      own(E).Explicit = false;
    else if (E.Extra == OfLock)
      Unmeant.release(E.Thread);
    else
      Unmeant.commitPoint(E.Thread);
  }

  OpenOne &own(const Event &E) {
    size_t &Id = Current[E.Thread];
    if (!Id) {
      Id = ++Ids;
      Open[Id].Thread = E.Thread;
    }
    return Open[Id];
  }

  void over(size_t Id, bool Committed) {
    if (auto Found = Parts.find(Id); Found != Parts.end()) {
      for (size_t Part : std::exchange(Found->second, {}))
        over(Part, Committed);
      Parts.erase(Id);
    }
    Order.end(Id);
    if (!Committed)
      takeBack(Id);
    Open.erase(Id);
  }

  /// What it freed is still there, what it allocated is not.
  void takeBack(size_t Id) {
    Freed.takeBack(Id);
    for (const auto &[Place, Block] : Open[Id].Allocated)
      Freed.add(Place, Block);
  }

  void end(const Event &E, bool Committed) {
    if (size_t Id = std::exchange(Current[E.Thread], 0))
      over(Id, Committed);
  }

  /// Its thread goes on, but nothing of it is durable before the other has committed.
  void join(const Event &E) {
    OpenOne &O = own(E);
    O.Joined = true;
    Parcels[E.Extra] = Current[E.Thread];
    Order.depend(E.Thread, Current[E.Thread]);
    Current[E.Thread] = 0;
  }

  Finding make(const char *Kind, const llvm::Twine &Message, const Site *Where,
               const Site *Note = nullptr, const char *NoteText = "") const {
    Finding F{Kind, Message.str(), Where, {}, 1, At};
    if (Where && Where == T.site(T.Events[At].Extra))
      F.Point = T.Events[At].Extra;
    if (Note)
      F.Notes.push_back({Note, NoteText});
    return F;
  }

  void add(const char *Kind, const llvm::Twine &Message, const Site *Where,
           const Site *Note = nullptr, const char *NoteText = "") {
    addFinding(R, make(Kind, Message, Where, Note, NoteText));
  }

  void warn(const char *Kind, const llvm::Twine &Message, const Site *Where,
            const Site *Note = nullptr, const char *NoteText = "") {
    Finding F = make(Kind, Message, Where, Note, NoteText);
    F.IsWarning = true;
    addFinding(R, std::move(F));
  }

  const Site *lastOf(unsigned Thread) {
    auto Found = Last.find(Thread);
    return Found == Last.end() ? nullptr : Found->second;
  }

  static bool isPlace(const Event &E) {
    return E.Kind == NVM_TRACE_STORE || E.Kind == NVM_TRACE_BEGIN ||
           E.Kind == NVM_TRACE_COMMITTING || E.Kind == NVM_TRACE_RELEASE ||
           E.Kind == NVM_TRACE_OUTPUT || E.Kind == NVM_TRACE_ASKED;
  }

  const Site *nextOf(unsigned Thread) const {
    constexpr size_t Near = 1000; // events
    for (size_t I = At; I < std::min(T.Events.size(), At + Near); ++I)
      if (const Event &E = T.Events[I]; E.Thread == Thread && isPlace(E) && T.site(E.Extra))
        return T.site(E.Extra);
    return nullptr;
  }

  void takeStore(const Event &E) {
    const Site *Where = T.site(E.Extra);
    uint64_t Bytes = E.Bytes.size();
    ++R.Stores;
    OpenOne &O = own(E);
    takeConflict(E, Where);
    O.Outside.erase(O.Outside.lower_bound(E.Place), O.Outside.lower_bound(E.Place + Bytes));
    O.Stored.add(E.Place, Bytes);
    O.Wrote = true;
    if (!Where)
      return;
    if (!O.First)
      O.First = Where;
    if (takeFreed(E, Where))
      return;
    if (!E.Covered)
      add("unlogged store",
          llvm::formatv("store of {0}{1} is covered by no log entry", bytesOf(Bytes),
                        toField(*Where)),
          Where);
    else if (!O.Explicit)
      Unmeant.add(E.Thread,
                  make("write outside a transaction",
                       llvm::formatv("store of {0}{1}: no commit point ends what it belongs to, "
                                     "the next beginning or the end of the thread does; a crash "
                                     "before loses it",
                                     bytesOf(Bytes), toField(*Where)),
                       Where));
  }

  void takeFree(const Event &E) {
    const Site *Where = T.site(siteOfFree(E));
    FreedBlock Block{E.Extra, Current[E.Thread], Where ? Where : lastOf(E.Thread), false};
    Block.IsKnown = Where;
    Freed.add(E.Place, Block);
  }

  void addAll(const std::vector<Finding> &Findings) {
    for (const Finding &F : Findings)
      addFinding(R, F);
  }

  bool takeFreed(const Event &E, const Site *Where) {
    const FreedBlock *Block = Freed.at(E.Place);
    if (!Block)
      return false;
    add("store to a freed block",
        llvm::formatv("store of {0}{1} into a block that {2}", bytesOf(E.Bytes.size()),
                      toField(*Where),
                      Block->Undone ? "an aborted transaction had allocated" : "was freed before"),
        Where, Block->Where,
        Block->Undone    ? "it was allocated after this"
        : Block->IsKnown ? "it was freed here"
                         : "it was freed after this");
    return true;
  }

  /// Another open transaction wrote the same bytes, and nothing says which of the two is first.
  void takeConflict(const Event &E, const Site *Where) {
    if (Open.size() < 2 || !Where)
      return;
    size_t Id = Current[E.Thread];
    for (const auto &[Other, O] : Open) {
      if (Other == Id || O.Thread == E.Thread || !O.Stored.hasAny(E.Place, E.Bytes.size()) ||
          Order.needs(E.Thread).count(Other))
        continue;
      add(Unordered,
          llvm::formatv("store of {0}{1} to bytes that another thread's open transaction has "
                        "written: neither can be undone without the other",
                        bytesOf(E.Bytes.size()), toField(*Where)),
          Where, All.of(E.Place, At).Where, "the other store");
    }
  }

  void takeUnseen(const Event &E) {
    if (!isPartOfLast(T, At))
      addFinding(R, unseenStore(T, At, lastOf(E.Thread), nextOf(E.Thread)));
  }

  void takeOutput(const Event &E) {
    const Site *First = nullptr;
    for (const auto &[Id, O] : Open)
      if (O.Thread == E.Thread && O.First)
        First = O.First;
    if (std::optional<Finding> F =
            First ? outputBeforeCommit(T, At, First, lastOf(E.Thread)) : std::nullopt)
      addFinding(R, std::move(*F));
  }

  void takeRelease(const Event &E) {
    OpenOne &O = own(E);
    Order.release(E.Thread, E.Place, O.Wrote ? Current[E.Thread] : 0);
    const Site *Where = T.site(E.Extra);
    if (!Where || !O.First || !O.Explicit)
      return;
    warn("lock released inside an open transaction",
         "if it guards what the transaction stored, others see that before it is durable; their "
         "commits will wait for this one",
         Where, O.First, "the first of those stores");
  }

  void takeUnsafe(const Event &E) {
    Guilty Who = All.of(E.Place, At);
    std::string Name = fieldOfUnsafe(E);
    add("unsafe pointer",
        llvm::formatv(
            "{0}{1:x}{2} lies outside the pool: after a restart it points to nothing; the "
            "transaction was undone",
            Name.empty() ? "" : Name + " is ", E.Extra, Name.empty() ? "" : ", which"),
        Who.Where);
  }

  /// Where no type says more: nobody knows that it is not meant to be so.
  void takeOutside(const Event &E) {
    if (Freed.at(E.Place))
      return;
    uint64_t Value = 0;
    std::memcpy(&Value, E.Bytes.data(), std::min(sizeof Value, E.Bytes.size()));
    warn("pointer to volatile memory",
         llvm::formatv("{0:x} lies outside the pool, where no type says that it may (an untyped "
                       "block, a union): after a restart it points to nothing",
                       Value),
         T.site(E.Extra));
  }

  /// Its data is on the media before the transaction is: that is no harm, and no use.
  void takeFlush(const Event &E) {
    warn("redundant flush",
         "commits bring to the media what was stored, and before that nothing counts: this takes "
         "time and guarantees nothing",
         T.site(E.Extra));
  }

  /// libnvmove waits or joins; that it does is what is looked at here.
  void takeCommitting(const Event &E) {
    own(E).Commits = true;
    for (auto [Place, Event] : own(E).Outside)
      takeOutside(T.Events[Event]);
    own(E).Outside.clear();
    for (size_t Id : Order.needs(E.Thread))
      if (llvm::none_of(Parts[Current[E.Thread]], [&](size_t Part) { return Part == Id; }) &&
          Id != Current[E.Thread])
        add("commit order",
            "this commits before a transaction that it depends on, because a lock came over from "
            "there; a defect of libnvmove",
            T.site(E.Extra), Open[Id].First, "a store of that transaction");
  }

  /// The program has not asked for it: its thread, or the process, ended in the middle.
  void takeAbort(const Event &E) {
    const OpenOne &O = own(E);
    if (!E.Extra && O.Began && O.First)
      add("transaction left open",
          "a transaction that began here was still open when its thread or the program ended, and "
          "was undone; commits inside it made nothing durable",
          O.Began, O.First, "the first of its stores");
  }

  const Trace &T;
  Result &R;
  Stores All;
  size_t At = 0, Ids = 0;
  std::map<size_t, OpenOne> Open;
  std::map<unsigned, size_t> Current; ///< thread -> its open transaction, or 0
  std::map<unsigned, const Site *> Last;
  std::map<uint64_t, size_t> Parcels;
  std::map<size_t, std::vector<size_t>> Parts;
  FreedBlocks Freed;
  LockOrder Order;
  Outside Unmeant;
};

} // namespace

void applyRules(const Trace &T, Result &R) { RuleWalk(T, R).run(); }

} // namespace nvmove::crash
