// The states of a pool: see PoolExplorer.h.
#include "crash/PoolExplorer.h"

#include "crash/Findings.h"
#include "crash/Looking.h"
#include "crash/Minimise.h"
#include "crash/Recovery.h"
#include "crash/Telling.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace nvmove::crash {
namespace {

const char *kindOfVerdict(Verdict What) {
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

/// One look.
class Explorer : public Looking {
public:
  Explorer(const Trace &T, const Options &O, const Look &L, const Stores &All, Media &M,
           Recovery &Failing, Refusals &Known, Share &S, Result &R)
      : Looking(T, O, L, All, M, Known, S, R), Failing(Failing), J(M, T.Base, O.Checker, O.Command),
        H(T) {
    Failing.goesOnWhile([this] { return goesOn(); });
    J.mayRefuse(T.Created);
    expect();
  }

private:
  bool commandFails() const override { return J.commandFails(); }

  void take(const Event &E) override {
    if (E.Kind == NVM_TRACE_FENCE && O.What == Model::Power) {
      if (L.IsFirst && AllPoints.enter(E.Thread))
        R.Possible += States.countOf(O.Each);
      if (entersPoint(E))
        epoch();
      for (unsigned Thread = 0; Thread <= T.Threads; ++Thread)
        if ((Thread != E.Thread) == (E.Extra != 0))
          M.fence(Thread);
    } else if (M.apply(At, E, T.Apart) && O.What == Model::Process) {
      takeStore(E);
    }
    if (O.What == Model::Disk)
      takeDisk(E);
    if (E.Kind == NVM_TRACE_OPENED)
      J.mayRefuse(false);
    if (E.Kind == NVM_TRACE_COMMITTING && O.What == Model::Power && S.numbers() < O.StatesMax) {
      if (L.IsFirst && AllPoints.enter(E.Thread))
        R.Possible += States.countIfSmall(O.Each);
      if (entersPoint(E))
        States.epochIfSmall();
    }
    if (H.pass(T, At))
      expect();
  }

  bool entersPoint(const Event &E) {
    bool Enters = Points.enter(E.Thread) || O.Only;
    R.Skipped += L.IsLast && !Enters;
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

  void expect() {
    if (J.expect(H) || TooMuch)
      return;
    TooMuch = true;
    R.NotDone.push_back("the program's data, or what threads commit at the same time, is more than "
                        "is compared; some of it was left out");
  }

  /// States that are asked for by name are judged whatever was seen before.
  void judge(const Choices &C) override {
    if (J.commandFails() || !goesOn())
      return;
    if (O.Only) {
      if (At == O.Only->Event && !R.States)
        judgeOnly();
      return;
    }
    Number = S.numberOf(M.hashOf(C), H.commits());
    R.Unexplored += Number > O.StatesMax;
    if (!Number || Number > O.StatesMax)
      return;
    bool IsFirst = !J.mayRefuse() && !std::exchange(S.WasOpened, true);
    bool Every = O.InterruptEvery && Number % O.InterruptEvery == 1 % O.InterruptEvery;
    bool Fails = O.InterruptEvery && (IsFirst || Every) && O.What != Model::Disk;
    // recoveries that fail take longest: they are shared out by themselves
    uint64_t Turn = Number / (Fails && Every ? O.InterruptEvery : 1);
    if (!S.isMine(Turn))
      return;
    ++R.States;
    S.countState();
    auto [Said, InRecovery] = verdictOn(C, Fails, Turn % 2 != 0);
    if (isFault(Said.What))
      found(Said, C, InRecovery);
  }

  /// A state with less of the loss; where nothing is to be judged any more it is no failure.
  bool stillFails(const Choices &Less, bool InRecovery, Verdict As) {
    if (!goesOn())
      return false;
    Verdict Now = verdictOn(Less, InRecovery, true, true).first.What;
    if (isSlow(Now))
      S.countHang();
    return Now == As;
  }

  void judgeOnly() {
    Choices C = M.choices();
    if (!O.Only->choose(C))
      return;
    ++R.States;
    S.numberOf(M.hashOf(C), H.commits());
    auto [Said, InRecovery] = verdictOn(C, O.Only->Recovery, true, true);
    if (Said.What != Verdict::Right)
      found(Said, C, InRecovery);
  }

  /// And whether it took a recovery that failed; \p Both: with a move and without one.
  std::pair<Judgement, bool> verdictOn(const Choices &C, bool Fails, bool Moves,
                                       bool Both = false) {
    M.put(C);
    Judgement Said = J.judge();
    bool InRecovery = Fails && Said.What == Verdict::Right;
    if (InRecovery)
      Said =
          Both ? Failing.judgeBoth(J, M, R.Recoveries) : Failing.judge(J, M, Moves, R.Recoveries);
    M.takeBack(C);
    if (Said.What == Verdict::Right && losesNothing(C))
      Known.right(moment());
    return {Said, InRecovery};
  }

  static bool isOfChecker(Verdict What) {
    return What == Verdict::Refused || What == Verdict::CheckerDied || What == Verdict::CheckerHung;
  }

  void found(const Judgement &Said, const Choices &C, bool InRecovery) {
    Finding F{kindOfVerdict(Said.What), Said.Message, nullptr, {}, 1, At};
    F.Number = Number;
    if (Said.What == Verdict::Torn)
      blame(Said, C, F);
    if (isSlow(Said.What))
      S.countHang();
    if (isOfChecker(Said.What)) {
      blameCommit(Said, refusedSince(Said, InRecovery), F);
      tellPrinted(Said, F);
    }
    Finding *Fresh = addFinding(R, std::move(F));
    if (!Fresh)
      return;
    Choices Least = O.Only || isSlow(Said.What) ? C : minimised(C, [&](const Choices &Less) {
      return stillFails(Less, InRecovery, Said.What);
    });
    Fresh->Notes.push_back({All.lastBefore(moment()),
                            llvm::formatv("the crash came at event {0} of the trace, after {1} "
                                          "commit{2}; the last store before it",
                                          At, H.commits(), H.commits() == 1 ? "" : "s")
                                .str()});
    tellLoss(State::of(At, Least, InRecovery), *Fresh);
    if (O.Watching)
      O.Watching->found(*Fresh);
  }

  void tellLoss(const State &Left, Finding &F) const {
    F.State = Left.text();
    for (size_t I = 0; I < Left.Lost.size() && I < LossesNamed; ++I)
      F.Notes.push_back({All.inLine(Left.Lost[I].first, At),
                         llvm::formatv("lost with it: what came last to line {0:x} of the file",
                                       Left.Lost[I].first)
                             .str()});
    if (Left.Lost.size() > LossesNamed)
      F.Notes.push_back({nullptr, std::to_string(Left.Lost.size() - LossesNamed) +
                                      " more lines have to be lost for it"});
  }

  /// The commit whose state recovery went back to is there for longer than this crash: the event
  /// before which the program made what the checker refuses. SIZE_MAX: it does not refuse that state
  /// when nothing is lost.
  size_t refusedSince(const Judgement &Said, bool InRecovery) {
    if (O.Only || isSlow(Said.What) || InRecovery)
      return SIZE_MAX;
    size_t Newest = newestOf(Said), Left = moment();
    if (Newest != SIZE_MAX && H.transaction(Newest).End < Left)
      Left = H.transaction(Newest).End + 1;
    auto IsRight = [&](size_t Event) { return !goesOn() || isRightBefore(Event); };
    return Known.isRight(Left, IsRight) ? SIZE_MAX : Known.first(Left, IsRight);
  }

  size_t newestOf(const Judgement &Said) const {
    return Said.Newest != SIZE_MAX ? Said.Newest : H.commits() - 1;
  }

  /// All that was stored before \p Event, and nothing lost; without a look at the data.
  bool isRightBefore(size_t Event) const {
    auto Image = Media::make(T, O.What == Model::Process);
    if (!Image) {
      llvm::consumeError(Image.takeError());
      return true;
    }
    bool Opened = !T.Created;
    for (size_t I = 0; I < Event; ++I) {
      (*Image)->apply(I, T.Events[I], T.Apart);
      Opened |= T.Events[I].Kind == NVM_TRACE_OPENED;
    }
    (*Image)->keepAll();
    Judge Other(**Image, T.Base, O.Checker, O.Command);
    Other.mayRefuse(!Opened);
    return Other.judge().What == Verdict::Right;
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

  /// The commit that left what the checker does not like, since \p Event; SIZE_MAX: since this crash.
  void blameCommit(const Judgement &Said, size_t Event, Finding &F) {
    size_t Newest = Event == SIZE_MAX ? newestOf(Said) : commitsBefore(Event) - 1;
    if (Newest == SIZE_MAX) {
      F.Message += ", before anything was committed";
      return;
    }
    size_t Committing = H.transaction(Newest).Committing;
    F.Point = T.Events[Committing].Extra;
    F.Where = T.site(F.Point);
    if (!F.Where)
      F.Where = All.lastBefore(Committing);
    const char *What = H.transaction(Newest).IsSplit ? "the split point at commit" : "commit";
    F.Message += llvm::formatv(", in the state that {0} {1} leaves", What, Newest + 1).str();
  }

  size_t commitsBefore(size_t Event) const {
    size_t Count = 0;
    while (Count < H.size() && H.transaction(Count).Committing < Event)
      ++Count;
    return Count;
  }

  Recovery &Failing;
  Judge J;
  History H;
  bool TooMuch = false;
};

} // namespace

llvm::Expected<Result> explorePool(const Trace &T, const Options &O, Share &S) {
  auto Failing = Recovery::make(T.SizeMax, O.What);
  if (!Failing)
    return Failing.takeError();
  Stores All(T);
  Refusals Known;
  Result R;
  for (const Look &L : S.looks()) {
    llvm::Expected<std::unique_ptr<Media>> M = Media::make(T, O.What == Model::Process);
    if (!M)
      return M.takeError();
    Explorer(T, O, L, All, **M, **Failing, Known, S, R).run();
    if (R.CommandFails || S.isStopped())
      break;
    R.Looks += !R.Unexplored;
  }
  R.Hangs = S.hangs();
  R.TimeUp = S.isTimeUp();
  R.NotDone.insert(R.NotDone.end(), (*Failing)->leftOut().begin(), (*Failing)->leftOut().end());
  return R;
}

} // namespace nvmove::crash
