// `nvmove stat`: what libnvmove counts in a running process. See src/stat.
#include "nvmove/Commands.h"

#include "stat/Places.h"
#include "stat/Watch.h"
#include "support/Diagnostics.h"
#include "support/Failed.h"
#include "support/Printable.h"
#include "support/Signals.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <thread>

namespace nvmove::tool {

using support::failed;
namespace {

constexpr double UsualSeconds = 5;
constexpr size_t LinesShown = 40;
constexpr auto LookEvery = std::chrono::milliseconds(100);

volatile std::sig_atomic_t Ended; ///< by Ctrl-C

void end(int) { Ended = 1; }

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point Start) {
  return std::chrono::duration<double>(Clock::now() - Start).count();
}

class Statistics {
public:
  explicit Statistics(const Arguments &A) : A(A), S(A.Stat) {}

  llvm::Error run() {
    if (llvm::Error Wrong = find())
      return Wrong;
    if (S.Lines || S.Off || S.Resets)
      for (const stat::Watch &W : Found)
        if (!W.process().canWrite())
          return failed(who(W) + ": its memory cannot be written, which this needs; do it as root");
    if (S.Off)
      return turnOff();
    if (S.Lines)
      return watchLines();
    if (S.Resets)
      return reset();
    if (S.Every > 0)
      return printEach();
    for (const stat::Watch &W : Found)
      printAll(W);
    return llvm::Error::success();
  }

private:
  static std::string who(const stat::Watch &W) {
    return "process " + std::to_string(W.process().id()) + " (" + W.process().name() + ")";
  }

  /// The process, or all that have the pool open.
  llvm::Error find() {
    pid_t Id = 0;
    if (!llvm::StringRef(S.Target).getAsInteger(10, Id) && !llvm::sys::fs::exists(S.Target)) {
      auto P = stat::Process::open(Id);
      if (!P)
        return P.takeError();
      return add(std::move(*P));
    }
    struct ::stat File{};
    if (::stat(S.Target.c_str(), &File))
      return failed(S.Target + ": " + std::strerror(errno) +
                    "; give the number of a process, or the path of a pool");
    if (!S_ISREG(File.st_mode))
      return failed(S.Target + ": this is no pool, but no file at all");
    std::error_code Ignored;
    Only = stat::MappedFile{File.st_dev, File.st_ino,
                            std::filesystem::canonical(S.Target, Ignored).string()};
    std::string Why;
    for (pid_t Each : stat::processesWith(*Only)) {
      llvm::Error Wrong = llvm::Error::success();
      auto P = stat::Process::open(Each);
      if (!P)
        Wrong = P.takeError();
      else
        Wrong = add(std::move(*P));
      if (Wrong)
        Why = llvm::toString(std::move(Wrong));
    }
    if (!Found.empty())
      return llvm::Error::success();
    return failed(!Why.empty()
                      ? Why
                      : S.Target + ": no process has it open, as far as this user may see; 'nvmove "
                                   "pool info' looks at a pool that nobody has open");
  }

  llvm::Error add(stat::Process P) {
    auto W = stat::Watch::find(std::move(P));
    if (!W)
      return W.takeError();
    std::vector<stat::PoolCounts> Pools = poolsOf(*W);
    if (Pools.empty() && !S.Off)
      return failed(who(*W) +
                    (S.Target == std::to_string(W->process().id())
                         ? " has no pool open"
                         : " has it mapped, but not open: it is a child of the one that has, or "
                           "looks at it"));
    Found.push_back(std::move(*W));
    return llvm::Error::success();
  }

  /// Of a process that was named all, else the pool.
  std::vector<stat::PoolCounts> poolsOf(const stat::Watch &W) const {
    std::vector<stat::PoolCounts> All = W.pools();
    if (!Only)
      return All;
    std::vector<stat::Mapping> Mapped = stat::mappingsOf(W.process().id());
    llvm::erase_if(All, [&](const stat::PoolCounts &P) { return !isThePool(Mapped, P); });
    return All;
  }

  /// By what is mapped: the path may be another one by now, or one of another folder.
  bool isThePool(const std::vector<stat::Mapping> &Mapped, const stat::PoolCounts &P) const {
    return llvm::any_of(Mapped, [&](const stat::Mapping &M) {
      return P.Mapped >= M.Start && P.Mapped < M.End && Only->isIn(M);
    });
  }

  void printAll(const stat::Watch &W) const {
    for (const stat::PoolCounts &P : poolsOf(W)) {
      if (A.Format == "json") {
        llvm::json::Object Counts;
        for (const stat::Counter &C : stat::counters())
          Counts[C.Name] = static_cast<int64_t>(P.Counted.*C.Value);
        llvm::outs() << llvm::json::Value(
                            llvm::json::Object{{"process", W.process().id()},
                                               {"pool", llvm::json::fixUTF8(P.Path)},
                                               {"method", P.Method},
                                               {"domain", P.Domain},
                                               {"since", P.IsReset ? "reset" : "opening"},
                                               {"watched", W.isWatched()},
                                               {"counts", std::move(Counts)}})
                     << '\n';
        continue;
      }
      llvm::outs() << who(W) << ", " << support::printable(P.Path) << ": method " << P.Method
                   << ", domain " << P.Domain << "; since "
                   << (P.IsReset ? "the last reset" : "its opening")
                   << (W.isWatched() ? "; watched by --lines" : "") << '\n';
      for (const stat::Counter &C : stat::counters())
        llvm::outs() << llvm::format("  %15llu  ",
                                     static_cast<unsigned long long>(P.Counted.*C.Value))
                     << llvm::left_justify(C.Name, 18) << C.Meaning << '\n';
    }
  }

  llvm::Error turnOff() const {
    for (const stat::Watch &W : Found)
      if (!W.setWatched(false))
        return gone(W);
    return llvm::Error::success();
  }

  llvm::Error reset() const {
    for (const stat::Watch &W : Found)
      for (const stat::PoolCounts &P : poolsOf(W))
        if (!W.reset(P))
          return gone(W);
    return llvm::Error::success();
  }

  static llvm::Error gone(const stat::Watch &W) {
    return failed("process " + std::to_string(W.process().id()) + " has ended");
  }

  static void onInterrupt() {
    for (int Number : {SIGINT, SIGTERM, SIGHUP})
      support::setSignal(Number, end);
  }

  static void sleepUntil(Clock::time_point When) {
    while (!Ended && Clock::now() < When)
      std::this_thread::sleep_for(std::min<Clock::duration>(LookEvery, When - Clock::now()));
  }

  /// What each pool counts in a second; a pool that was opened since is not shown the first time.
  llvm::Error printEach() const {
    onInterrupt();
    std::map<std::pair<pid_t, uint64_t>, nvm_stats> Before;
    auto Last = Clock::now();
    take(Before, 0);
    if (A.Format == "text")
      llvm::outs()
          << "   commits    aborts  log KB  flushed    fences    allocs     frees  a second\n";
    for (unsigned Round = 0; (!S.Count || Round < S.Count) && !Ended; ++Round) {
      auto Next = Last + std::chrono::duration_cast<Clock::duration>(
                             std::chrono::duration<double>(S.Every));
      sleepUntil(Next);
      double Seconds = secondsSince(Last);
      Last = Clock::now();
      if (Ended)
        break;
      if (!take(Before, Seconds))
        return gone(Found.front());
      llvm::outs().flush();
    }
    return llvm::Error::success();
  }

  /// Prints what has come in \p Seconds; 0: nothing. False: no process is there any more.
  bool take(std::map<std::pair<pid_t, uint64_t>, nvm_stats> &Before, double Seconds) const {
    bool Any = false;
    for (const stat::Watch &W : Found) {
      Any = Any || !W.process().name().empty();
      for (const stat::PoolCounts &P : poolsOf(W)) {
        auto [At, IsNew] = Before.try_emplace({W.process().id(), P.Generation << 8 | P.Number});
        if (!IsNew && Seconds > 0)
          printRates(W, P, At->second, Seconds);
        At->second = P.Counted;
      }
    }
    return Any;
  }

  void printRates(const stat::Watch &W, const stat::PoolCounts &P, const nvm_stats &Before,
                  double Seconds) const {
    auto Rate = [&](uint64_t nvm_stats::*Value) {
      auto More = static_cast<int64_t>(P.Counted.*Value - Before.*Value);
      return static_cast<double>(std::max<int64_t>(More, 0)) / Seconds; // somebody may reset
    };
    if (A.Format == "json") {
      llvm::json::Object Rates;
      for (const stat::Counter &C : stat::counters())
        Rates[C.Name] = Rate(C.Value);
      llvm::outs() << llvm::json::Value(llvm::json::Object{{"process", W.process().id()},
                                                           {"pool", llvm::json::fixUTF8(P.Path)},
                                                           {"seconds", Seconds},
                                                           {"a_second", std::move(Rates)}})
                   << '\n';
      return;
    }
    llvm::outs() << llvm::format("%10.0f%10.0f%8.0f%9.0f%10.0f%10.0f%10.0f  ",
                                 Rate(&nvm_stats::commits), Rate(&nvm_stats::aborts),
                                 Rate(&nvm_stats::log_bytes) / 1024,
                                 Rate(&nvm_stats::flushed_lines), Rate(&nvm_stats::fences),
                                 Rate(&nvm_stats::allocations), Rate(&nvm_stats::frees))
                 << support::printable(P.Path) << '\n';
  }

  llvm::Error watchLines() const {
    for (const stat::Watch &W : Found)
      if (W.isWatched())
        return failed(who(W) +
                      ": another nvmove stat watches it, or one was killed while it did; 'nvmove "
                      "stat --off " +
                      S.Target + "' ends that");
    onInterrupt();
    std::vector<std::unique_ptr<nvm_watched>> Seen(Found.size());
    std::vector<std::vector<stat::Mapping>> Mapped;
    for (const stat::Watch &W : Found) {
      Mapped.push_back(stat::mappingsOf(W.process().id()));
      if (!W.resetWatched() || !W.setWatched(true))
        return gone(W);
    }
    auto Start = Clock::now();
    double Wanted = S.Seconds > 0 ? S.Seconds : UsualSeconds;
    bool Any = true; // of the processes
    while (!Ended && Any && secondsSince(Start) < Wanted) {
      sleepUntil(
          std::min(Clock::now() + LookEvery, Start + std::chrono::duration_cast<Clock::duration>(
                                                         std::chrono::duration<double>(Wanted))));
      Any = false;
      for (size_t I = 0; I < Found.size(); ++I)
        if (auto Now = Found[I].watched()) { // it may end before the next look
          Seen[I] = std::move(Now);
          Any = true;
          if (auto Now = stat::mappingsOf(Found[I].process().id()); !Now.empty())
            Mapped[I] = std::move(Now);
        }
    }
    double Seconds = secondsSince(Start);
    for (const stat::Watch &W : Found)
      W.setWatched(false);
    for (size_t I = 0; I < Found.size(); ++I)
      if (Seen[I])
        printLines(Found[I], *Seen[I], Mapped[I], Seconds);
    return llvm::Error::success();
  }

  void printLines(const stat::Watch &W, const nvm_watched &Seen,
                  const std::vector<stat::Mapping> &Mapped, double Seconds) const {
    std::vector<stat::StoringLine> Lines = stat::linesOf(Seen, Mapped);
    if (A.Format == "json") {
      printLinesJson(W, Seen, Lines, Seconds);
      return;
    }
    auto Number = [](uint64_t N) { return static_cast<unsigned long long>(N); };
    llvm::outs()
        << who(W)
        << llvm::format(", %.1f s: %llu transactions began, %llu more inside of them (at most %llu "
                        "deep);\n",
                        Seconds, Number(Seen.begins), Number(Seen.nested), Number(Seen.deepest))
        << llvm::format("%llu stores of %llu bytes; %llu announced loads of %llu bytes\n\n",
                        Number(Seen.stores), Number(Seen.stored_bytes), Number(Seen.loads),
                        Number(Seen.loaded_bytes));
    if (Lines.empty())
      return;
    llvm::outs() << "      stores  share       bytes  line\n";
    for (const stat::StoringLine &L : llvm::ArrayRef(Lines).take_front(LinesShown)) {
      std::string Place = L.File.empty() ? L.Module : L.File + ":" + std::to_string(L.Line);
      llvm::outs() << llvm::format("%12llu %5.1f %% %11llu  ", Number(L.Stores),
                                   100.0 * static_cast<double>(L.Stores) /
                                       static_cast<double>(Seen.stores),
                                   Number(L.Bytes))
                   << support::printable(Place + "  " + L.Function) << '\n';
    }
    if (Lines.size() > LinesShown)
      llvm::outs() << "and " << Lines.size() - LinesShown << " more lines; --format=json has all\n";
    if (Seen.without_site)
      llvm::outs() << Number(Seen.without_site)
                   << " stores of more places than there is room for\n";
  }

  static void printLinesJson(const stat::Watch &W, const nvm_watched &Seen,
                             const std::vector<stat::StoringLine> &Lines, double Seconds) {
    auto Number = [](uint64_t N) { return static_cast<int64_t>(N); };
    llvm::json::Array All;
    for (const stat::StoringLine &L : Lines)
      All.push_back(llvm::json::Object{{"file", llvm::json::fixUTF8(L.File)},
                                       {"line", L.Line},
                                       {"function", llvm::json::fixUTF8(L.Function)},
                                       {"module", llvm::json::fixUTF8(L.Module)},
                                       {"stores", Number(L.Stores)},
                                       {"bytes", Number(L.Bytes)}});
    llvm::outs() << llvm::json::Value(
                        llvm::json::Object{{"process", W.process().id()},
                                           {"seconds", Seconds},
                                           {"begins", Number(Seen.begins)},
                                           {"nested", Number(Seen.nested)},
                                           {"deepest", Number(Seen.deepest)},
                                           {"stores", Number(Seen.stores)},
                                           {"stored_bytes", Number(Seen.stored_bytes)},
                                           {"loads", Number(Seen.loads)},
                                           {"loaded_bytes", Number(Seen.loaded_bytes)},
                                           {"without_line", Number(Seen.without_site)},
                                           {"lines", std::move(All)}})
                 << '\n';
  }

  const Arguments &A;
  const StatArguments &S;
  std::vector<stat::Watch> Found;
  std::optional<stat::MappedFile> Only; ///< of the pools of a process, that one
};

} // namespace

int runStat(const Arguments &A) {
  support::Diagnostics D(llvm::errs(), support::wantsColor(A.Color, llvm::errs()));
  if (llvm::Error Failed = Statistics(A).run()) {
    llvm::outs().flush();
    D.error(std::move(Failed));
    return ExitUsage;
  }
  return ExitComplete;
}

} // namespace nvmove::tool
