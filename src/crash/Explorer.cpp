// The states of a trace: see Explorer.h.
#include "crash/Explorer.h"

#include "crash/Callers.h"
#include "crash/Dangling.h"
#include "crash/FailurePoints.h"
#include "crash/Findings.h"
#include "crash/Guilty.h"
#include "crash/Minimise.h"
#include "crash/RawExplorer.h"
#include "crash/Recovery.h"
#include "crash/Rules.h"
#include "crash/Telling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <unordered_set>

namespace nvmove::crash {
namespace {

constexpr size_t LossesNamed = 4; ///< lines of a loss that get a note of their own

const char *kindOf(Verdict What) {
  switch (What) {
  case Verdict::NotRecovered:
    return "recovery failed";
  case Verdict::Died:
    return "recovery crashed";
  case Verdict::Hung:
    return "recovery hung";
  case Verdict::Damaged:
    return "damaged pool";
  case Verdict::Refused:
    return "checker";
  case Verdict::CheckerDied:
    return "checker crashed";
  case Verdict::CheckerHung:
    return "checker hung";
  default:
    return "";
  }
}

class Explorer {
public:
  Explorer(const Trace &T, const Options &O, Media &M, Recovery &Failing)
      : T(T), O(O), M(M), Failing(Failing), J(M, T.Base, O.Checker, O.Command), H(T), All(T),
        States(M, O.Each, O.Seed, [this](const Choices &C) { judge(C); }), Points(O.PerPoint) {}

  Result run() {
    auto Start = std::chrono::steady_clock::now();
    Failing.goesOnWhile([this] { return goesOn(); });
    prepare();
    tellFindings(O, R);
    while (At < T.Events.size() && !J.commandFails() && !Stopped)
      take(T.Events[At]), ++At;
    epoch(); // what was still on its way at the end
    if (Stopped) {
      R.NotDone.push_back(sayStopped(At, T.Events.size(), Hangs >= HangsMax ? Hangs : 0));
      R.Cut = true;
    }
    if (!R.Recoveries.All && O.InterruptEvery && !O.Only && O.What != Model::Disk && !Stopped)
      R.NotDone.push_back("recovery was made to fail in no state; --interrupt-every says in which");
    R.NotDone.insert(R.NotDone.end(), Failing.leftOut().begin(), Failing.leftOut().end());
    R.CommandFails = J.commandFails();
    R.Distinct = Images.size();
    R.FailurePoints = Points.count();
    nameCallers(T, R);
    R.Seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - Start).count();
    return std::move(R);
  }

private:
  void prepare() {
    if (!O.Only) {
      applyRules(T, R);
      tellConflicts({T, H, All}, R);
      findDangling(T, H, All, O, R);
    }
    R.Threads = T.Threads;
    R.Method = T.Apart ? "shadow" : "undo";
    if (T.OtherOpenings)
      R.NotDone.push_back("another pool was opened (" + std::to_string(T.OtherOpenings) +
                          " times): nothing of that is known, only the first pool is traced");
    bool Untold = T.Points.empty();
    if (Untold)
      R.NotDone.push_back(
          "the program is not built with nvmove-cc -g --nvmove-trace: stores outside "
          "transactions, output, locks and calls were not seen");
    R.Cut = T.Cut || T.OtherOpenings || Untold;
    if (T.Full)
      R.NotDone.push_back(
          "the trace was full (--trace-max): what the program did then is not known");
    else if (T.Cut)
      R.NotDone.push_back("the trace ends within a record: what the program did then is not known");
    R.Unclosed = !T.Closed && !T.Cut;
    if (R.Unclosed)
      R.NotDone.push_back(howItEnded(T) +
                          " and did not close its pool: stores that nobody saw were "
                          "not looked for in all of it");
    if (T.Refused)
      R.NotDone.push_back("an opening of the pool failed (" + std::to_string(T.Refused) +
                          " times): what it did to the file counts as done by somebody else");
    for (const std::string &File : T.Shared)
      R.NotDone.push_back(File + " is mapped shared and for writing: what the program stores there "
                                 "leaves the process at once, and is not looked at");
    J.mayRefuse(T.Created);
    expect();
  }

  void take(const Event &E) {
    Points.pass(E);
    if (E.Kind == NVM_TRACE_FENCE && O.What == Model::Power) {
      if (entersPoint(E))
        epoch();
      for (unsigned Thread = 0; Thread <= T.Threads; ++Thread)
        if ((Thread != E.Thread) == (E.Extra != 0))
          M.fence(Thread);
    } else if (M.apply(At, E, T.Apart) && O.What == Model::Process) {
      States.latest();
      M.keepAll();
    }
    if (O.What == Model::Disk)
      takeDisk(E);
    if (E.Kind == NVM_TRACE_OPENED)
      J.mayRefuse(false);
    if (E.Kind == NVM_TRACE_COMMITTING && O.What == Model::Power && R.States < O.StatesMax &&
        entersPoint(E))
      States.epochIfSmall();
    if (H.pass(T, At))
      expect();
  }

  bool entersPoint(const Event &E) {
    bool Enters = Points.enter(E.Thread) || O.Only;
    R.Skipped += !Enters;
    return Enters;
  }

  /// Creation and growth end with fsync, and nothing else has any.
  void takeDisk(const Event &E) {
    if (E.Kind == NVM_TRACE_OPENED || E.Kind == NVM_TRACE_GROW)
      M.keepAll();
    if (E.Kind == NVM_TRACE_COMMIT || E.Kind == NVM_TRACE_CLOSED)
      States.sectors();
  }

  /// False: it is no finding.
  bool isFault(Verdict What) {
    if (O.What != Model::Disk || What == Verdict::Died || What == Verdict::Hung)
      return What != Verdict::Right;
    R.Refused += What == Verdict::NotRecovered;
    R.Lost += What != Verdict::NotRecovered && What != Verdict::Right;
    return false;
  }

  void epoch() {
    bool Whole = true;
    ++R.Epochs;
    if (R.States >= O.StatesMax) { // to enumerate them is no help
      ++R.Unexplored;
      return;
    }
    if (O.What == Model::Power)
      Whole = States.epoch();
    else if (O.What == Model::Process)
      States.latest();
    else
      Whole = false; // a sample always
    R.Sampled += !Whole || M.forgot();
  }

  void expect() {
    if (J.expect(H) || TooMuch)
      return;
    TooMuch = true;
    R.NotDone.push_back("the program's data, or what threads commit at the same time, is more than "
                        "is compared; some of it was left out");
  }

  /// States that are asked for by name are judged whatever was seen before.
  void judge(const Choices &C) {
    if (J.commandFails() || !goesOn())
      return;
    uint64_t Hash = M.hashOf(C);
    if (O.Only) {
      if (At == O.Only->Event && !R.States)
        judgeOnly();
      return;
    }
    if (!Seen.insert(Hash + H.commits() * 0x9e3779b97f4a7c15).second)
      return;
    if (R.States >= O.StatesMax) {
      ++R.Unexplored;
      return;
    }
    Images.insert(Hash);
    ++R.States;
    bool IsFirst = !J.mayRefuse() && !std::exchange(WasOpened, true);
    bool Fails =
        O.InterruptEvery && (IsFirst || R.States % O.InterruptEvery == 1 % O.InterruptEvery);
    auto [Said, InRecovery] = verdictOn(C, Fails && O.What != Model::Disk);
    if (isFault(Said.What))
      found(Said, C, InRecovery);
  }

  bool goesOn() {
    Stopped |= Hangs >= HangsMax || (O.Watching && !O.Watching->goesOn(At, R.States));
    return !Stopped;
  }

  /// A state with less of the loss; where nothing is to be judged any more it is no failure.
  bool stillFails(const Choices &Less, bool InRecovery, Verdict As) {
    if (!goesOn())
      return false;
    Verdict Now = verdictOn(Less, InRecovery, true).first.What;
    Hangs += isSlow(Now);
    return Now == As;
  }

  void judgeOnly() {
    Choices C = M.choices();
    if (!O.Only->choose(C))
      return;
    ++R.States;
    Images.insert(M.hashOf(C));
    auto [Said, InRecovery] = verdictOn(C, O.Only->Recovery, true);
    if (Said.What != Verdict::Right)
      found(Said, C, InRecovery);
  }

  /// And whether it took a recovery that failed; \p Both: with a move and without one.
  std::pair<Judgement, bool> verdictOn(const Choices &C, bool Fails, bool Both = false) {
    M.put(C);
    Judgement Said = J.judge();
    bool InRecovery = Fails && Said.What == Verdict::Right;
    if (InRecovery)
      Said = Both ? Failing.judgeBoth(J, M, R.Recoveries) : Failing.judge(J, M, R.Recoveries);
    M.takeBack(C);
    return {Said, InRecovery};
  }

  void found(const Judgement &Said, const Choices &C, bool InRecovery) {
    Finding F{kindOf(Said.What), Said.Message, nullptr, {}, 1, At};
    if (Said.What == Verdict::Torn)
      blame(Said, C, F);
    Hangs += isSlow(Said.What);
    Stopped |= Hangs >= HangsMax;
    if (Said.What == Verdict::Refused || Said.What == Verdict::CheckerDied ||
        Said.What == Verdict::CheckerHung) {
      blameCommit(Said, F);
      tellPrinted(Said, F);
    }
    Finding *Fresh = addFinding(R, std::move(F));
    if (!Fresh)
      return;
    Choices Least = O.Only || isSlow(Said.What) ? C : minimised(C, [&](const Choices &Less) {
      return stillFails(Less, InRecovery, Said.What);
    });
    Fresh->Notes.push_back({All.lastBefore(At + (O.What == Model::Process ? 1 : 0)),
                            llvm::formatv("the crash came at event {0} of the trace, after {1} "
                                          "commit{2}; the last store before it",
                                          At, H.commits(), H.commits() == 1 ? "" : "s")
                                .str()});
    State S = State::of(At, Least, InRecovery);
    Fresh->State = S.text();
    for (size_t I = 0; I < S.Lost.size() && I < LossesNamed; ++I)
      Fresh->Notes.push_back(
          {All.inLine(S.Lost[I].first, At),
           llvm::formatv("lost with it: what came last to line {0:x} of the file", S.Lost[I].first)
               .str()});
    if (S.Lost.size() > LossesNamed)
      Fresh->Notes.push_back({nullptr, std::to_string(S.Lost.size() - LossesNamed) +
                                           " more lines have to be lost for it"});
    if (O.Watching)
      O.Watching->found(*Fresh);
  }

  void blame(const Judgement &Said, const Choices &C, Finding &F) {
    Guilty Who = All.of(Said.Place, At);
    F.Where = Who.Where;
    F.Point = Who.Point;
    F.Kind = "torn transaction";
    M.put(C);
    tellTorn({T, H, All}, Said, M.path(), At, F);
    M.takeBack(C);
  }

  /// The commit that left what the checker does not like.
  void blameCommit(const Judgement &Said, Finding &F) {
    size_t Newest = Said.Newest != SIZE_MAX ? Said.Newest : H.commits() - 1;
    if (Newest == SIZE_MAX) {
      F.Message += ", before anything was committed";
      return;
    }
    size_t Committing = H.transaction(Newest).Committing;
    F.Point = T.Events[Committing].Extra;
    F.Where = T.site(F.Point);
    if (!F.Where)
      F.Where = All.lastBefore(Committing);
    F.Message +=
        llvm::formatv(", in the state that {0} {1} leaves",
                      H.transaction(Newest).IsSplit ? "the split point at commit" : "commit",
                      Newest + 1)
            .str();
  }

  const Trace &T;
  const Options &O;
  Media &M;
  Recovery &Failing;
  Judge J;
  History H;
  Stores All;
  Walk States;
  FailurePoints Points;
  Result R;
  std::unordered_set<uint64_t> Seen, Images;
  size_t At = 0;
  unsigned Hangs = 0;
  bool TooMuch = false, Stopped = false;
  bool WasOpened = false; ///< in some state that was judged
};

} // namespace

llvm::Expected<Result> explore(const Trace &T, const Options &O) {
  if (T.Raw)
    return exploreRaw(T, O);
  llvm::Expected<std::unique_ptr<Media>> M = Media::make(T, O.What == Model::Process);
  if (!M)
    return M.takeError();
  auto Failing = Recovery::make(T.SizeMax, O.What);
  if (!Failing)
    return Failing.takeError();
  Result R = Explorer(T, O, **M, **Failing).run();
  if (R.CommandFails)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "the checker '" + O.Command + "' cannot be run");
  if (O.Only && !R.States)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "no state '" + O.Only->text() +
                                       "' in this trace, under this model");
  return R;
}

} // namespace nvmove::crash
