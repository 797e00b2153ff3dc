// States of a program that flushes by itself: see RawExplorer.h.
#include "crash/RawExplorer.h"

#include "crash/Callers.h"
#include "crash/FailurePoints.h"
#include "crash/FileJudge.h"
#include "crash/Findings.h"
#include "crash/Guilty.h"
#include "crash/Minimise.h"
#include "crash/RawRules.h"

#include "llvm/ADT/STLExtras.h"

#include <chrono>
#include <unordered_set>

namespace nvmove::crash {
namespace {

constexpr size_t LossesNamed = 4;    ///< lines of a loss that get notes of their own
constexpr size_t MinimisedMax = 200; ///< failing states whose smallest loss is looked for

llvm::Error failed(const std::string &Why) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), Why);
}

class RawExplorer {
public:
  RawExplorer(const Trace &T, const Options &O, Media &M, FileJudge *J)
      : T(T), O(O), M(M), J(J), All(T),
        States(M, O.Each, O.Seed, [this](const Choices &C) { judge(C); }), Points(O.PerPoint),
        Length(T.Size) {}

  Result run() {
    auto Start = std::chrono::steady_clock::now();
    if (!O.Only)
      applyRawRules(T, R);
    markUnflushed(J != nullptr); // until some state is left out
    sayWhatIsMissing();
    tellFindings(O, R);
    while (J && At < T.Events.size() && !J->commandFails() && !Stopped)
      take(T.Events[At]), ++At;
    if (J)
      epoch(); // what was still on its way at the end
    if (Stopped) {
      R.NotDone.push_back(sayStopped(At, T.Events.size(), Hangs >= HangsMax ? Hangs : 0));
      R.Cut = true;
    }
    markUnflushed(J && R.finished());
    R.CommandFails = J && J->commandFails();
    R.Distinct = Images.size();
    R.FailurePoints = Points.count();
    R.Threads = T.Threads;
    R.Raw = true;
    nameCallers(T, R);
    R.Seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - Start).count();
    return std::move(R);
  }

private:
  /// The checker that has every state knows what may be lost on purpose.
  void markUnflushed(bool AsWarning) {
    for (Finding &F : R.Findings)
      if (F.Kind == NeverFlushed)
        F.IsWarning = AsWarning;
  }

  void sayWhatIsMissing() {
    auto Say = [this](const std::string &Text) { R.NotDone.push_back(Text); };
    if (!J)
      Say("no --check: no state was judged, only the rules were applied");
    if (T.OtherOpenings)
      Say("other files were mapped (" + std::to_string(T.OtherOpenings) + " times); only " +
          T.PoolPath + " is traced (NVMOVE_TRACE_FILE names another)");
    if (T.Children)
      Say("a child was forked (" + std::to_string(T.Children) +
          " times); what it stores, flushes and prints is not traced");
    if (T.Points.empty())
      Say("no store was seen: is the program built with nvmove-cc -g --nvmove-trace=raw?");
    if (T.Full)
      Say("the trace was full (--trace-max): what the program did then is not known");
    else if (T.Cut)
      Say("the trace ends within a record: what the program did then is not known");
    R.Unclosed = !T.Closed && !T.Cut;
    if (R.Unclosed)
      Say(howItEnded(T) + ", not by exit: stores of code that was not compiled for the trace were "
                          "not looked for in all of the file");
    R.Cut = !J || T.OtherOpenings || T.Children || T.Points.empty() || T.Cut;
  }

  void take(const Event &E) {
    Points.pass(E);
    if (E.Kind == NVM_TRACE_GROW) {
      M.cut(E.Place, Length);
      Length = E.Place;
    }
    if (E.Kind == NVM_TRACE_OUTPUT && E.Place != Acked) {
      Acked = E.Place;
      enter(E);
    }
    if (O.What != Model::Power) {
      if (M.apply(At, E, false)) {
        States.latest();
        M.keepAll();
      }
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
    if (Points.enter(E.Thread) || O.Only)
      epoch();
    else
      ++R.Skipped;
  }

  void epoch() {
    ++R.Epochs;
    if (R.States >= O.StatesMax) {
      ++R.Unexplored;
      return;
    }
    bool Whole = true;
    if (O.What == Model::Power)
      Whole = States.epoch();
    else
      States.latest();
    R.Sampled += !Whole || M.forgot();
  }

  Judgement verdictOn(const Choices &C) {
    M.put(C);
    Judgement Said = J->judge(Length, Acked);
    M.takeBack(C);
    bool LosesNothing = llvm::all_of(
        C, [](const Choice &One) { return One.Version + 1 == One.Dirty->Versions.size(); });
    if (LosesNothing && Said.What == Verdict::Right)
      BrokenAt = nullptr;
    return Said;
  }

  void judge(const Choices &C) {
    if (J->commandFails() || !goesOn())
      return;
    if (O.Only) {
      if (At == O.Only->Event && !R.States)
        judgeOnly();
      return;
    }
    uint64_t Hash = M.hashOf(C);
    if (!Seen.insert(Hash + (Acked + (Length << 32)) * 0x9e3779b97f4a7c15).second)
      return;
    if (R.States >= O.StatesMax) {
      ++R.Unexplored;
      return;
    }
    Images.insert(Hash);
    ++R.States;
    if (Judgement Said = verdictOn(C); Said.What != Verdict::Right)
      found(Said, C);
  }

  bool goesOn() {
    Stopped |= Hangs >= HangsMax || (O.Watching && !O.Watching->goesOn(At, R.States));
    return !Stopped;
  }

  /// A state with less of the loss; where nothing is to be judged any more it is no failure.
  bool stillFails(const Choices &Less, Verdict As) {
    if (!goesOn())
      return false;
    Verdict Now = verdictOn(Less).What;
    Hangs += isSlow(Now);
    return Now == As;
  }

  void judgeOnly() {
    Choices C = M.choices();
    if (!O.Only->choose(C))
      return;
    ++R.States;
    Images.insert(M.hashOf(C));
    if (Judgement Said = verdictOn(C); Said.What != Verdict::Right)
      found(Said, C);
  }

  void found(const Judgement &Said, const Choices &C) {
    Choices Least = C;
    Hangs += isSlow(Said.What);
    Stopped |= Hangs >= HangsMax;
    if (!O.Only && !isSlow(Said.What) && Minimised++ < MinimisedMax)
      Least = minimised(C, [&](const Choices &Less) { return stillFails(Less, Said.What); });
    Finding F{isSlow(Said.What)                   ? "checker hung"
              : Said.What == Verdict::CheckerDied ? "checker crashed"
                                                  : "checker",
              Said.Message};
    F.Event = At;
    F.State = State::of(At, Least, false).text();
    blame(Least, F);
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

  void blame(const Choices &Least, Finding &F) {
    auto Lacking = lackingIn(Least);
    // a process dies right behind its event, the power fails right before it
    const Site *LastStore = All.lastBefore(At + (O.What == Model::Power ? 0 : 1));
    if (Lacking.empty()) {
      if (!BrokenAt) // since then it is so, whatever came later
        BrokenAt = LastStore;
      F.Where = BrokenAt;
      F.Message += ", when the crash comes right behind this store and nothing is lost";
    } else {
      llvm::sort(Lacking, [this](const auto &A, const auto &B) {
        bool FlushedA = flushOf(A), FlushedB = flushOf(B);
        return FlushedA != FlushedB ? FlushedB : A.second < B.second;
      });
      const Event &Lost = T.Events[Lacking[0].second];
      F.Where = T.site(Lost.Extra);
      F.Point = Lost.Extra;
      F.Message += ", when what is stored here is lost and what came later is not";
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

  const Trace &T;
  const Options &O;
  Media &M;
  FileJudge *J;
  Stores All;
  Walk States;
  FailurePoints Points;
  Result R;
  std::unordered_set<uint64_t> Seen, Images;
  uint64_t Length, Acked = 0;
  size_t At = 0, Minimised = 0;
  const Site *BrokenAt = nullptr; ///< the store since which even what loses nothing is refused
  unsigned Hangs = 0;
  bool Stopped = false;
};

} // namespace

llvm::Expected<Result> exploreRaw(const Trace &T, const Options &O) {
  if (O.What == Model::Disk)
    return failed("--model=disk is for pools; a program that flushes by itself has --model=power "
                  "and --model=process");
  llvm::Expected<std::unique_ptr<Media>> M = Media::make(T, O.What == Model::Process);
  if (!M)
    return M.takeError();
  std::unique_ptr<FileJudge> Judge;
  if (!O.Checker.empty() || !O.Command.empty()) {
    auto Made = FileJudge::make(T, **M, O.Checker, O.Command);
    if (!Made)
      return Made.takeError();
    Judge = std::move(*Made);
  } else if (O.Only) {
    return failed("--state needs the --check that judged it");
  }
  Result R = RawExplorer(T, O, **M, Judge.get()).run();
  if (R.CommandFails)
    return failed("the checker '" + O.Command + "' cannot be run");
  if (O.Only && !R.States)
    return failed("no state '" + O.Only->text() + "' in this trace, under this model");
  return R;
}

} // namespace nvmove::crash
