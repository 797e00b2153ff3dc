// What is seen of an exploration: see CrashWatch.h.
#include "nvmove/CrashWatch.h"

#include "nvmove/CrashAside.h"

#include "crash/Helper.h"
#include "crash/Temporary.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <iterator>
#include <unistd.h>

namespace nvmove::tool {
namespace {

volatile std::sig_atomic_t Stopped;
constexpr int Signals[] = {SIGINT, SIGTERM, SIGHUP};
struct sigaction Before[std::size(Signals)];

/// The first Ctrl-C is a wish; what else comes ends the command, and the checkers that run.
void interrupt(int Signal) {
  if (Signal == SIGINT && !Stopped) {
    Stopped = 1;
    return;
  }
  crash::killHelpers();
  crash::removeTemporaries();
  restoreAside();
  std::signal(Signal, SIG_DFL);
  raise(Signal);
}

} // namespace

CrashWatch::CrashWatch(bool Quiet, bool FailFast)
    : Quiet(Quiet), FailFast(FailFast), Shown(std::chrono::steady_clock::now()) {
  struct sigaction Action{};
  Action.sa_handler = interrupt;
  Action.sa_flags = SA_RESTART;
  Stopped = 0;
  for (size_t I = 0; I < std::size(Signals); ++I)
    if (sigaction(Signals[I], &Action, &Before[I]); Before[I].sa_handler == SIG_IGN)
      sigaction(Signals[I], &Before[I], nullptr); // in the background, or by nohup
}

CrashWatch::~CrashWatch() {
  clearLine();
  for (size_t I = 0; I < std::size(Signals); ++I)
    sigaction(Signals[I], &Before[I], nullptr);
}

void CrashWatch::clearLine() {
  if (HasLine)
    llvm::errs() << "\r\033[K";
  HasLine = false;
}

void CrashWatch::found(const crash::Finding &F) {
  HasError |= !F.IsWarning;
  std::string Place = F.Where ? F.Where->File + ":" + std::to_string(F.Where->Line) + ": " : "";
  if (!Told.insert(Place.empty() ? F.Kind + F.Message : Place + F.Kind).second)
    return; // with another method
  ++Findings;
  if (Quiet)
    return;
  clearLine();
  llvm::errs() << "nvmove: found " << Place << F.Kind << ": " << F.Message << '\n';
}

bool CrashWatch::goesOn(size_t Event, uint64_t States) {
  constexpr std::chrono::milliseconds Each(250);
  auto Now = std::chrono::steady_clock::now();
  if (!Quiet && Now - Shown >= Each && isatty(STDERR_FILENO)) {
    Shown = Now;
    clearLine();
    llvm::errs() << llvm::formatv("event {0}, {1} states judged, {2} findings; Ctrl-C stops here",
                                  Event, States, Findings);
    HasLine = true;
  }
  return !Stopped && !(FailFast && HasError);
}

} // namespace nvmove::tool
