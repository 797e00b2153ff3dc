// Handlers of signals: see Signals.h.
#include "support/Signals.h"

#include "llvm/Support/Signals.h"

#include <csignal>
#include <unistd.h>

namespace nvmove::support {

namespace {

constexpr int InterruptedStatus = 130; // 128 + SIGINT, as shells report it

bool IsIgnored[NSIG]; ///< since before main()

} // namespace

void installInterruptHandler() {
  struct sigaction Before[NSIG];
  for (int Signal = 1; Signal < NSIG; ++Signal)
    IsIgnored[Signal] =
        !sigaction(Signal, nullptr, &Before[Signal]) && Before[Signal].sa_handler == SIG_IGN;
  llvm::sys::SetInterruptFunction([] { _exit(InterruptedStatus); });
  // LLVM takes them all; Ctrl-\ for a fault that comes again.
  for (int Signal = 1; Signal < NSIG; ++Signal)
    if (IsIgnored[Signal] || Signal == SIGQUIT)
      sigaction(Signal, &Before[Signal], nullptr);
}

void setSignal(int Signal, void (*Handler)(int)) {
  if (!IsIgnored[Signal])
    std::signal(Signal, Handler);
}

} // namespace nvmove::support
