// States of a program that flushes by itself: see RawExplorer.h.
#include "crash/RawExplorer.h"

#include "crash/FileJudge.h"
#include "crash/Findings.h"
#include "crash/Looking.h"
#include "crash/Minimise.h"
#include "crash/RawRules.h"
#include "support/Failed.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::crash {

using support::failed;
namespace {

constexpr size_t MinimisedMax = 200; ///< failing states whose smallest loss is looked for

/// One look.
class RawExplorer : public Looking {
public:
  RawExplorer(const Trace &T, const Options &O, const Look &L, const Stores &All, Media &M,
              FileJudge &J, Refusals &Known, Share &S, Result &R)
      : Looking(T, O, L, All, M, Known, S, R), J(J), Length(T.Size) {}

private:
  bool commandFails() const override { return J.commandFails(); }

  void take(const Event &E) override {
    if (E.Kind == NVM_TRACE_GROW) {
      M.cut(E.Place, Length);
      Length = E.Place;
    }
    if (E.Kind == NVM_TRACE_OUTPUT && E.Place != Acked) {
      Acked = E.Place;
      enter(E);
    }
    if (O.What != Model::Power) {
      if (M.apply(At, E, false))
        takeStore(E);
      return;
    }
    if (E.Kind == NVM_TRACE_FENCE || E.Kind == NVM_TRACE_SYNC)
      enter(E);
    if (E.Kind == NVM_TRACE_FENCE)
      M.fence(E.Thread);
    else
      M.apply(At, E, false);
  }

  void enter(const Event &E) {
    if (L.IsFirst && AllPoints.enter(E.Thread))
      R.Possible += O.What == Model::Power ? States.countOf(O.Each) : States.countOfLatest();
    if (Points.enter(E.Thread) || O.Only)
      epoch();
    else
      R.Skipped += L.IsLast;
  }

  Judgement verdictOn(const Choices &C) {
    M.put(C);
    Judgement Said = J.judge(M, Length, Acked);
    M.takeBack(C);
    if (Said.What == Verdict::Right && losesNothing(C))
      Known.right(moment());
    return Said;
  }

  void judge(const Choices &C) override {
    if (J.commandFails() || !goesOn())
      return;
    if (O.Only) {
      if (At == O.Only->Event && !R.States)
        judgeOnly();
      return;
    }
    Number = S.numberOf(M.hashOf(C), Acked + (Length << 32));
    R.Unexplored += Number > O.StatesMax;
    if (!Number || Number > O.StatesMax || !S.isMine(Number))
      return;
    ++R.States;
    S.countState();
    if (Judgement Said = verdictOn(C); Said.What != Verdict::Right)
      found(Said, C);
  }

  /// A state with less of the loss; where nothing is to be judged any more it is no failure.
  bool stillFails(const Choices &Less, Verdict As) {
    if (!goesOn())
      return false;
    Verdict Now = verdictOn(Less).What;
    if (isSlow(Now))
      S.countHang();
    return Now == As;
  }

  void judgeOnly() {
    Choices C = M.choices();
    if (!O.Only->choose(C))
      return;
    ++R.States;
    S.numberOf(M.hashOf(C), Acked + (Length << 32));
    if (Judgement Said = verdictOn(C); Said.What != Verdict::Right)
      found(Said, C);
  }

  void found(const Judgement &Said, const Choices &C) {
    Choices Least = C;
    if (isSlow(Said.What))
      S.countHang();
    if (!O.Only && !isSlow(Said.What) && Minimised++ < MinimisedMax)
      Least = minimised(C, [&](const Choices &Less) { return stillFails(Less, Said.What); });
    Finding F{isSlow(Said.What)                   ? "checker hung"
              : Said.What == Verdict::CheckerDied ? "checker crashed"
                                                  : "checker",
              Said.Message};
    F.Event = At;
    F.Number = Number;
    F.State = State::of(At, Least, false).text();
    blame(Said.What, Least, F);
    tellPrinted(Said, F);
    const Finding *Fresh = addFinding(R, std::move(F));
    if (Fresh && O.Watching)
      O.Watching->found(*Fresh);
  }

  /// The lines of a loss that lack something, and the event that made what they lack first.
  static std::vector<std::pair<uint64_t, size_t>> lackingIn(const Choices &C) {
    std::vector<std::pair<uint64_t, size_t>> Lacking;
    for (const Choice &One : C)
      if (One.Version + 1 < One.Dirty->Versions.size())
        Lacking.push_back({One.Line, One.Dirty->Versions[One.Version + 1].Event});
    return Lacking;
  }

  void blame(Verdict What, const Choices &Least, Finding &F) {
    auto Lacking = lackingIn(Least);
    const Site *LastStore = All.lastBefore(moment());
    if (Lacking.empty()) { // since then it is so, whatever came later
      bool Looks = !O.Only && !isSlow(What);
      size_t Since = !Looks ? moment() : Known.first(moment(), [this](size_t Event) {
        return !goesOn() || isRightBefore(Event);
      });
      F.Point = All.pointBefore(Since);
      F.Where = T.site(F.Point);
      F.Message += ", when the crash comes right after this store and nothing is lost";
    } else {
      llvm::sort(Lacking, [this](const auto &A, const auto &B) {
        bool FlushedA = flushOf(A), FlushedB = flushOf(B);
        return FlushedA != FlushedB ? FlushedB : A.second < B.second;
      });
      const Event &Lost = T.Events[Lacking[0].second];
      F.Point = T.site(Lost.Extra) ? Lost.Extra : placedBefore(Lacking[0].second);
      F.Where = T.site(F.Point);
      F.Message += F.Point == Lost.Extra
                       ? ", when what is stored here is lost and what came later is not"
                       : ", when what libnvmove, or other code that is not compiled for the trace, "
                         "stores after this is lost and what came later is not";
      for (size_t I = 0; I < Lacking.size() && I < LossesNamed; ++I)
        tellFate(F, Lacking[I], I == 0);
      if (Lacking.size() > LossesNamed)
        F.Notes.push_back({nullptr, std::to_string(Lacking.size() - LossesNamed) +
                                        " more lines have to be lost for it"});
      if (LastStore != F.Where)
        F.Notes.push_back({LastStore, "the last store before the crash, which is not lost"});
    }
    if (T.Output && Acked)
      F.Notes.push_back({nullptr, "the program had printed " + std::to_string(Acked) +
                                      " bytes by then, the last line: " + lastLine()});
  }

  /// Where the thread of \p Event was last before it, as far as its stores and flushes tell; 0:
  /// not known.
  uint64_t placedBefore(size_t Event) const {
    for (size_t I = Event; I-- > 0;)
      if (const auto &E = T.Events[I];
          E.Thread == T.Events[Event].Thread && E.Kind != NVM_TRACE_FENCE && T.site(E.Extra))
        return E.Extra;
    return 0;
  }

  /// All that was stored before \p Event, and nothing lost.
  bool isRightBefore(size_t Event) const {
    auto Image = Media::make(T, O.What == Model::Process);
    if (!Image) {
      llvm::consumeError(Image.takeError());
      return true;
    }
    uint64_t Long = T.Size, Printed = 0;
    for (size_t I = 0; I < Event; ++I) {
      const struct Event &E = T.Events[I];
      if (E.Kind == NVM_TRACE_GROW) {
        (*Image)->cut(E.Place, Long);
        Long = E.Place;
      }
      if (E.Kind == NVM_TRACE_OUTPUT)
        Printed = E.Place;
      (*Image)->apply(I, E, false);
    }
    (*Image)->keepAll();
    return J.judge(**Image, Long, Printed).What == Verdict::Right;
  }

  /// What put a line that lacks something on its way, behind the store of that; null: nothing.
  const Event *flushOf(const std::pair<uint64_t, size_t> &Lacking) const {
    auto [Line, Stored] = Lacking;
    for (size_t I = Stored; I < At && I < T.Events.size(); ++I) {
      const Event &E = T.Events[I];
      bool Flushes = E.Kind == NVM_TRACE_FLUSH || E.Kind == NVM_TRACE_STREAM;
      if (Flushes && E.Place / LineSize <= Line &&
          (E.Place + E.Bytes.size() - 1) / LineSize >= Line)
        return &E;
    }
    return nullptr;
  }

  void tellFate(Finding &F, const std::pair<uint64_t, size_t> &Lacking, bool IsFirst) const {
    if (!IsFirst)
      F.Notes.push_back(
          {T.site(T.Events[Lacking.second].Extra), "lost with it: what is stored here"});
    const Event *Flush = flushOf(Lacking);
    if (!Flush)
      F.Notes.push_back({nullptr, "its line was not flushed between that store and the crash"});
    else
      F.Notes.push_back({T.site(Flush->Extra), Flush->Kind == NVM_TRACE_STREAM
                                                   ? "stored past the cache, and no fence followed"
                                                   : "flushed here, and no fence followed"});
  }

  std::string lastLine() const {
    llvm::StringRef Printed = T.Output->getBuffer().take_front(Acked).rtrim('\n');
    size_t From = Printed.rfind('\n');
    constexpr size_t Shown = 80;
    return "'" + Printed.drop_front(From == Printed.npos ? 0 : From + 1).take_front(Shown).str() +
           "'";
  }

  FileJudge &J;
  uint64_t Length, Acked = 0;
  size_t Minimised = 0;
};

} // namespace

llvm::Error checkRaw(const Options &O) {
  bool HasChecker = !O.Checker.empty() || !O.Command.empty();
  if (O.What == Model::Disk)
    return failed("--model=disk is for pools; a program that flushes by itself has --model=power "
                  "and --model=process");
  if (O.Only && !HasChecker)
    return failed("--state needs the --check that judged it");
  return llvm::Error::success();
}

/// The checker that has every state knows what may be lost on purpose.
static void markUnflushed(Result &R, bool AsWarning) {
  for (Finding &F : R.Findings)
    if (F.Kind == NeverFlushed)
      F.IsWarning = AsWarning;
}

Result preparedRaw(const Trace &T, const Options &O) {
  Result R;
  R.Raw = true;
  R.Threads = T.Threads;
  R.Ended = howItFailed(T);
  bool HasChecker = !O.Checker.empty() || !O.Command.empty();
  if (!O.Only)
    applyRawRules(T, R);
  markUnflushed(R, HasChecker); // until some state is left out
  auto Say = [&R](const std::string &Text) { R.NotDone.push_back(Text); };
  if (!HasChecker)
    Say("no --check: no state was judged, only the rules were applied");
  if (T.OtherOpenings)
    Say("other files were mapped (" + std::to_string(T.OtherOpenings) + " times); only " +
        T.PoolPath + " is traced (--file names another)");
  if (T.Children)
    Say("a child was forked (" + std::to_string(T.Children) +
        " times); what it stores, flushes and prints is not traced");
  if (T.Points.empty())
    Say("no store was seen: is the program built with nvmove-cc -g --nvmove-trace=raw?");
  if (std::string Sources = untracedSources(T); !Sources.empty())
    Say(Sources + "what is stored, flushed and fenced there was not seen as it happened");
  if (T.Full)
    Say("the trace was full (--trace-max): what the program did then is not known");
  else if (T.Cut)
    Say("the trace ends within a record: what the program did then is not known");
  R.Unclosed = !T.Closed && !T.Cut;
  if (R.Unclosed)
    Say(howItEnded(T) + ", not by exit: stores of code that was not compiled for the trace were "
                        "not looked for in all of the file");
  R.Cut = !HasChecker || T.OtherOpenings || T.Children || T.Points.empty() || !T.Untraced.empty() ||
          T.Cut;
  return R;
}

llvm::Expected<Result> exploreRaw(const Trace &T, const Options &O, Share &S) {
  Result R;
  if (O.Checker.empty() && O.Command.empty())
    return R;
  std::unique_ptr<FileJudge> Judge;
  Stores All(T);
  Refusals Known;
  for (const Look &L : S.looks()) {
    llvm::Expected<std::unique_ptr<Media>> M = Media::make(T, O.What == Model::Process);
    if (!M)
      return M.takeError();
    if (!Judge) {
      auto Made = FileJudge::make(T, **M, O.Checker, O.Command);
      if (!Made)
        return Made.takeError();
      Judge = std::move(*Made);
    }
    RawExplorer(T, O, L, All, **M, *Judge, Known, S, R).run();
    if (R.CommandFails || S.isStopped())
      break;
    R.Looks += !R.Unexplored;
  }
  R.Hangs = S.hangs();
  R.TimeUp = S.isTimeUp();
  return R;
}

void finishRaw(Result &R) { markUnflushed(R, R.finished()); }

} // namespace nvmove::crash
