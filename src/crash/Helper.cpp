// Processes that judge: see Helper.h.
#include "crash/Helper.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <set>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace nvmove::crash {
namespace {

constexpr size_t KeptMax = 200;   ///< bytes of what is printed
constexpr unsigned ReadsMax = 64; ///< at once: what prints without end is not waited for
constexpr std::chrono::milliseconds Slice(5); ///< where the kernel does not tell of the end

volatile pid_t Groups[4]; ///< that run; 0: none

bool Adopting;          ///< there are Strays
std::set<pid_t> Others; ///< children that this process had before

std::vector<pid_t> children() {
  std::ifstream In("/proc/self/task/" + std::to_string(getpid()) + "/children");
  return {std::istream_iterator<pid_t>(In), {}};
}

} // namespace

int pollUntil(pollfd *Files, size_t Count, Deadline Until) {
  for (;;) {
    auto Left =
        std::chrono::ceil<std::chrono::milliseconds>(Until - std::chrono::steady_clock::now());
    int Ready = poll(Files, Count, std::max<int>(0, static_cast<int>(Left.count())));
    if (Ready >= 0 || errno != EINTR)
      return Ready;
  }
}

void becomeHelper() {
  setpgid(0, 0);
  for (int Signal : {SIGINT, SIGTERM, SIGHUP})
    signal(Signal, SIG_DFL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

HelperGroup::HelperGroup(pid_t Leader) : Leader(Leader) {
  setpgid(Leader, Leader); // the child does so too: whoever comes first
  for (volatile pid_t &Each : Groups)
    if (!Each) {
      Each = Leader;
      return;
    }
}

HelperGroup::~HelperGroup() {
  kill(-Leader, SIGKILL);
  for (volatile pid_t &Each : Groups)
    if (Each == Leader)
      Each = 0;
}

void killHelpers() {
  for (volatile pid_t &Each : Groups)
    if (pid_t Leader = Each)
      kill(-Leader, SIGKILL);
}

Strays::Strays() {
  std::vector<pid_t> Now = children();
  Others = {Now.begin(), Now.end()};
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  Adopting = true;
}

Strays::~Strays() {
  Adopting = false;
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

void killStrays() {
  constexpr unsigned RoundsMax = 64; // what ends may leave children in its turn
  auto IsStray = [](pid_t Child) {
    return !Others.count(Child) &&
           std::find(std::begin(Groups), std::end(Groups), Child) == std::end(Groups);
  };
  bool Any = Adopting;
  for (unsigned Round = 0; Any && Round < RoundsMax; ++Round) {
    Any = false;
    for (pid_t Child : children()) {
      if (!IsStray(Child))
        continue;
      Any = true;
      kill(Child, SIGKILL);
      while (waitpid(Child, nullptr, 0) < 0 && errno == EINTR)
        continue;
    }
  }
}

Printed::Printed() {
  int Ends[2];
  if (pipe2(Ends, O_CLOEXEC))
    llvm::report_fatal_error("no pipe for what a checker prints");
  From = Ends[0];
  Into = Ends[1];
  fcntl(From, F_SETFL, O_NONBLOCK);
}

Printed::~Printed() {
  close(From);
  close(Into);
}

void Printed::redirect() const {
  dup2(Into, STDOUT_FILENO);
  dup2(Into, STDERR_FILENO);
}

void Printed::take() {
  char Read[4096];
  ssize_t Length;
  for (unsigned I = 0; I < ReadsMax && (Length = read(From, Read, sizeof Read)) > 0; ++I)
    Text.append(Read, std::min(static_cast<size_t>(Length), KeptMax - Text.size()));
}

std::string Printed::told() const {
  llvm::StringRef Line = llvm::StringRef(Text).ltrim('\n').split('\n').first;
  return Line.empty() ? "" : ": " + Line.str();
}

bool hasEnded(pid_t Child) {
  siginfo_t Info{};
  return waitid(P_PID, static_cast<id_t>(Child), &Info, WEXITED | WNOWAIT | WNOHANG) == 0 &&
         Info.si_pid == Child;
}

End awaitEnd(pid_t Child, std::optional<HelperGroup> &Group, Printed &Said) {
  int Fd = static_cast<int>(syscall(SYS_pidfd_open, Child, 0));
  End How;
  for (Deadline Until = deadline(); !hasEnded(Child);) {
    Deadline Now = std::chrono::steady_clock::now();
    if (Now >= Until) {
      How.Hung = true;
      break;
    }
    pollfd Files[] = {{Fd, POLLIN, 0}, {Said.from(), POLLIN, 0}};
    pollUntil(Files, 2, Fd < 0 ? std::min<Deadline>(Until, Now + Slice) : Until);
    Said.take();
  }
  if (Fd >= 0)
    close(Fd);
  Group.reset(); // before its number is free for another
  Said.take();
  while (waitpid(Child, &How.Status, 0) < 0 && errno == EINTR)
    continue;
  killStrays();
  return How;
}

} // namespace nvmove::crash
