// The states of a trace: see Explorer.h.
#include "crash/Explorer.h"

#include "crash/Interrupted.h"
#include "crash/Rules.h"

#include "llvm/Support/FormatVariadic.h"

#include <chrono>
#include <cstring>
#include <random>
#include <unordered_set>

namespace nvmove::crash {
namespace {

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
  default:
    return "";
  }
}

class Explorer {
public:
  Explorer(const Trace &T, const Options &O, Media &M, InterruptedRecovery &Recovery)
      : T(T), O(O), M(M), Recovery(Recovery), J(M, O.Checker, O.Command), Before(T), After(T),
        Random(O.Seed) {}

  Result run() {
    auto Start = std::chrono::steady_clock::now();
    applyRules(T, R);
    Compares = T.Threads < 2;
    if (!Compares)
      R.NotDone.push_back("several threads write: the program's data was not compared, only "
                          "recovery, the heap and the checker judge");
    if (T.OtherOpenings)
      R.NotDone.push_back("another pool was opened, or this one again (" +
                          std::to_string(T.OtherOpenings) +
                          " times): nothing of that is known, only the first opening is traced");
    R.Cut = T.Cut || T.OtherOpenings;
    if (T.Cut)
      R.NotDone.push_back("the trace ends within a record: what the program did then is not known");
    if (After.commits())
      After.advance();
    expect();
    for (At = 0; At < T.Events.size(); ++At)
      take(T.Events[At]);
    epoch(); // what was still on its way at the end
    if (Recovery.gaveUp())
      R.NotDone.push_back("some recovery has more steps than it was killed at");
    R.Distinct = Images.size();
    R.Seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - Start).count();
    return std::move(R);
  }

private:
  void take(const Event &E) {
    if (E.Kind == NVM_TRACE_FENCE && O.What == Model::Power) {
      epoch();
      for (unsigned Thread = 1; Thread <= T.Threads; ++Thread)
        if (Thread == E.Thread || E.Extra)
          M.fence(Thread);
    } else if (E.Kind == NVM_TRACE_COMMIT) {
      Before.advance();
      if (Before.now() < After.commits())
        After.advance();
      expect();
    } else if (M.apply(At, E, T.Apart) && O.What == Model::Process) {
      latest();
      M.keepAll();
    }
  }

  void expect() {
    if (!Compares)
      J.expect(nullptr, nullptr);
    else if (!J.expect(&Before.lines(), &After.lines()) && !TooMuch)
      TooMuch = true, R.NotDone.push_back("the program has stored to more lines than are compared; "
                                          "those at higher places were left out");
  }

  /// One line's share in the choice: which of its versions.
  struct Choice {
    uint64_t Line;
    const DirtyLine *Dirty;
    size_t Version;
  };

  /// The process died now: every store is there.
  void latest() {
    std::vector<Choice> All = choices();
    for (Choice &C : All)
      C.Version = C.Dirty->Versions.size() - 1;
    judge(All);
  }

  std::vector<Choice> choices() const {
    std::vector<Choice> All;
    for (const auto &[Line, D] : M.dirty())
      if (D.Versions.size() > 1)
        All.push_back({Line, &D, 0});
    return All;
  }

  void epoch() {
    ++R.Epochs;
    std::vector<Choice> All = choices();
    uint64_t Product = 1;
    for (const Choice &C : All)
      Product = Product > O.EpochMax ? Product : Product * C.Dirty->Versions.size();
    if (Product > O.EpochMax)
      sample(All);
    else
      exhaust(All);
    R.Sampled += Product > O.EpochMax || M.forgot();
  }

  void exhaust(std::vector<Choice> &All) {
    while (true) {
      judge(All);
      size_t I = 0;
      while (I < All.size() && ++All[I].Version == All[I].Dirty->Versions.size())
        All[I++].Version = 0;
      if (I == All.size())
        return;
    }
  }

  void sample(std::vector<Choice> &All) {
    auto Set = [&](bool Last) {
      for (Choice &C : All)
        C.Version = Last ? C.Dirty->Versions.size() - 1 : 0;
    };
    for (bool Last : {false, true}) {
      Set(Last);
      judge(All);
      for (size_t I = 0; I < All.size(); ++I) { // one line alone is the other way round
        Set(Last);
        All[I].Version = Last ? 0 : All[I].Dirty->Versions.size() - 1;
        judge(All);
      }
    }
    std::vector<size_t> Moments;
    for (const Choice &C : All)
      for (const Version &V : C.Dirty->Versions)
        Moments.push_back(V.Event);
    std::sort(Moments.begin(), Moments.end());
    Moments.erase(std::unique(Moments.begin(), Moments.end()), Moments.end());
    for (size_t Moment : Moments) {
      for (Choice &C : All) {
        C.Version = 0;
        while (C.Version + 1 < C.Dirty->Versions.size() &&
               C.Dirty->Versions[C.Version + 1].Event <= Moment)
          ++C.Version;
      }
      judge(All);
    }
    for (uint64_t N = 0; N < O.Samples; ++N) {
      for (Choice &C : All)
        C.Version = Random() % C.Dirty->Versions.size();
      judge(All);
    }
  }

  void judge(const std::vector<Choice> &All) {
    uint64_t Hash = M.hash();
    for (const Choice &C : All) {
      if (!C.Version)
        continue;
      Hash -= Media::lineHash(C.Line, M.data() + C.Line * LineSize);
      Hash += Media::lineHash(C.Line, C.Dirty->Versions[C.Version].Bytes.data());
    }
    if (!Seen.insert(Hash + Before.now() * 0x9e3779b97f4a7c15).second)
      return;
    if (R.States >= O.StatesMax) {
      ++R.Unexplored;
      return;
    }
    Images.insert(Hash);
    ++R.States;
    put(All, false);
    Judgement Said = J.judge();
    if (Said.What == Verdict::Right && O.InterruptEvery && R.States % O.InterruptEvery == 1)
      Said = Recovery.judge(J, M, R.Interrupted);
    put(All, true);
    if (Said.What != Verdict::Right)
      found(Said);
  }

  /// Patches the image, or takes it back to what is guaranteed.
  void put(const std::vector<Choice> &All, bool Back) {
    for (const Choice &C : All)
      if (C.Version)
        std::memcpy(M.data() + C.Line * LineSize,
                    C.Dirty->Versions[Back ? 0 : C.Version].Bytes.data(), LineSize);
  }

  void found(const Judgement &Said) {
    Finding F{kindOf(Said.What), Said.Message, nullptr, {}, 1, At};
    if (Said.What == Verdict::Torn) {
      Guilty Who = guiltyStore(T, T.Events.size(), Said.Place);
      if (Who.Unseen)
        return; // a rule has said so
      Who = guiltyStore(T, At, Said.Place);
      F.Where = Who.Where;
      F.Kind = Who.Covered ? "torn transaction" : "unlogged store";
      F.Message = llvm::formatv("after a crash byte {0:x} of the pool is {1:x}, with others it is "
                                "{2:x} before the transaction and {3:x} after it",
                                Said.Place, unsigned(Said.Found), unsigned(Said.Before),
                                unsigned(Said.After))
                      .str();
    }
    F.Notes.push_back(
        {lastSite(), llvm::formatv("the crash came at event {0} of the trace, after {1} "
                                   "commits; the last store before it",
                                   At, Before.now())
                         .str()});
    addFinding(R, std::move(F));
  }

  const Site *lastSite() const {
    for (size_t I = std::min(At, T.Events.size()); I-- > 0;)
      if (T.Events[I].Kind == NVM_TRACE_STORE)
        if (const Site *S = T.site(T.Events[I].Extra))
          return S;
    return nullptr;
  }

  const Trace &T;
  const Options &O;
  Media &M;
  InterruptedRecovery &Recovery;
  Judge J;
  History Before, After; ///< of the open transaction
  Result R;
  std::mt19937_64 Random;
  std::unordered_set<uint64_t> Seen, Images;
  size_t At = 0;
  bool Compares = true, TooMuch = false;
};

} // namespace

llvm::Expected<Result> explore(const Trace &T, const Options &O) {
  llvm::Expected<std::unique_ptr<Media>> M = Media::make(T);
  if (!M)
    return M.takeError();
  auto Recovery = InterruptedRecovery::make(T.SizeMax);
  if (!Recovery)
    return Recovery.takeError();
  return Explorer(T, O, **M, **Recovery).run();
}

} // namespace nvmove::crash
