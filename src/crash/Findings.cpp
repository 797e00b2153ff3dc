// The list of findings: see Findings.h.
#include "crash/Findings.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <csignal>
#include <sys/wait.h>
#include <tuple>

namespace nvmove::crash {

static const std::string &keyOf(const Finding &F) { return F.Key.empty() ? F.Message : F.Key; }

void tellPrinted(const Judgement &Said, Finding &F) {
  if (Said.Said.empty())
    return;
  F.Key = F.Message;
  F.Message.insert(Said.Message.size(), Said.Said);
}

void addCalls(Finding &Known, const Finding &F) {
  constexpr size_t OthersMax = 8; // more than are named: some have the same caller
  std::vector<OtherCalls> All = Known.Others;
  All.push_back({F.Point, F.Number});
  llvm::append_range(All, F.Others);
  llvm::sort(All, [](const OtherCalls &A, const OtherCalls &B) {
    return std::tie(A.Number, A.Point) < std::tie(B.Number, B.Point);
  });
  Known.Others.clear();
  for (const OtherCalls &One : All) {
    auto IsSame = [&](const OtherCalls &Had) { return Had.Point == One.Point; };
    if (One.Point && One.Point != Known.Point && Known.Others.size() < OthersMax &&
        llvm::none_of(Known.Others, IsSame))
      Known.Others.push_back(One);
  }
}

Finding *addFinding(Result &R, Finding F) {
  for (Finding &Known : R.Findings)
    if (Known.Kind == F.Kind && Known.Where == F.Where && (F.Where || keyOf(Known) == keyOf(F))) {
      Known.Count += F.Count;
      addCalls(Known, F);
      return nullptr;
    }
  constexpr size_t FindingsMax = 100; // errors, and warnings; more are no help to anybody
  auto IsAlike = [&](const Finding &Known) { return Known.IsWarning == F.IsWarning; };
  if (size_t(llvm::count_if(R.Findings, IsAlike)) == FindingsMax) {
    ++R.Omitted;
    return nullptr;
  }
  R.Findings.push_back(std::move(F));
  return &R.Findings.back();
}

void tellFindings(const Options &O, const Result &R) {
  for (const Finding &F : R.Findings)
    if (O.Watching)
      O.Watching->found(F);
}

std::string howProcessEnded(int Status) {
  if (!WIFSIGNALED(Status))
    return "ended with status " + std::to_string(WEXITSTATUS(Status));
  const char *Hint = WTERMSIG(Status) == SIGBUS ? " (a bus error: is a disk full?)" : "";
  return "was ended by signal " + std::to_string(WTERMSIG(Status)) + Hint;
}

std::string howItEnded(const Trace &T) {
  return "the program " + (T.Status ? howProcessEnded(*T.Status) : "ended");
}

std::string howItFailed(const Trace &T) { return T.Status.value_or(0) ? howItEnded(T) : ""; }

std::string untracedSources(const Trace &T) {
  constexpr size_t NamedMax = 3;
  if (T.Untraced.empty())
    return "";
  std::vector<std::string> Named(T.Untraced.begin(), T.Untraced.end());
  size_t Others = Named.size() - std::min(Named.size(), NamedMax);
  Named.resize(Named.size() - Others);
  if (Others)
    Named.back() += " and " + std::to_string(Others) + (Others == 1 ? " other" : " others");
  return llvm::join(Named, ", ") + (T.Untraced.size() == 1 ? " was" : " were") +
         " compiled without --nvmove-trace: ";
}

static std::string inWords(double Seconds) {
  if (Seconds < 100)
    return std::to_string(static_cast<unsigned>(Seconds) + 1) + " s";
  return std::to_string(static_cast<unsigned>(Seconds / 60) + 1) + " min";
}

static std::string sayTimeUp(const Trace &T, const Options &O, const Result &R) {
  char Time[64];
  snprintf(Time, sizeof Time, "the time was up (%g s)", O.Seconds);
  if (!R.Looks)
    return llvm::formatv("{0} at event {1} of {2}: not every failure point was explored; "
                         "--seconds=0 goes on to the end",
                         Time, R.StoppedAt, T.Events.size())
        .str();
  uint64_t Left = R.Possible > R.States ? R.Possible - R.States : 0;
  double More = R.States ? R.Seconds * double(Left) / double(R.States) : 0;
  const char *Faster = O.Command.empty() || O.Jobs
                           ? ""
                           : "; --jobs=N runs N checkers at once, which must not share a file";
  return llvm::formatv("up to {0} more states of these failure points: {1}; --seconds=0 judges "
                       "them, in some {2}{3}",
                       Left, Time, inWords(More), Faster)
      .str();
}

void tellStopped(const Trace &T, const Options &O, Result &R) {
  if (R.TimeUp) {
    R.NotDone.push_back(sayTimeUp(T, O, R));
  } else if (R.StoppedAt != SIZE_MAX) {
    std::string Why = R.Hangs >= HangsMax ? "after " + std::to_string(R.Hangs) + " hangs " : "";
    R.NotDone.push_back(llvm::formatv("{0}it was stopped at event {1} of {2}: states of what came "
                                      "later were not judged",
                                      Why, R.StoppedAt, T.Events.size())
                            .str());
    R.Cut = true;
  }
}

void addExplored(Result &R, Result Explored) {
  Result Before = std::move(R);
  R = std::move(Explored);
  std::vector<Finding> Found = std::exchange(R.Findings, std::move(Before.Findings));
  R.Failed = std::move(Before.Failed);
  R.NotDone.insert(R.NotDone.begin(), Before.NotDone.begin(), Before.NotDone.end());
  R.Commits = Before.Commits;
  R.Stores = Before.Stores;
  R.Threads = Before.Threads;
  R.Omitted += Before.Omitted;
  R.Cut |= Before.Cut;
  R.Unclosed = Before.Unclosed;
  R.LocksUnseen = Before.LocksUnseen;
  R.Ended = Before.Ended;
  R.Raw = Before.Raw;
  R.Method = Before.Method;
  R.Places = std::move(Before.Places); // findings point there
  for (Finding &F : Found)
    addFinding(R, std::move(F));
}

bool Result::hasErrors() const {
  return llvm::any_of(Findings, [](const Finding &F) { return !F.IsWarning; });
}

} // namespace nvmove::crash
