// Looks into /proc: see Activity.h.
#include "move/Activity.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace nvmove::move {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string contents(const std::string &Path) {
  auto Read = llvm::MemoryBuffer::getFileAsStream(Path); // its size is said to be 0
  return Read ? (*Read)->getBuffer().str() : "";
}

/// The names in \p Folder that are numbers.
std::vector<pid_t> numbersIn(const std::string &Folder) {
  std::vector<pid_t> Found;
  std::error_code Error;
  for (fs::directory_iterator At(Folder, Error), End; !Error && At != End; At.increment(Error)) {
    pid_t Number;
    if (!llvm::StringRef(At->path().filename().string()).getAsInteger(10, Number))
      Found.push_back(Number);
  }
  return Found;
}

/// The parent, of "pid (name) S parent ..."; the name may have any character.
std::optional<pid_t> parentOf(pid_t Process) {
  std::string Text = contents("/proc/" + std::to_string(Process) + "/stat");
  size_t Name = Text.rfind(')');
  pid_t Parent;
  if (Name == std::string::npos || std::sscanf(Text.c_str() + Name, ") %*c %d", &Parent) != 1)
    return std::nullopt;
  return Parent;
}

std::map<pid_t, std::vector<pid_t>> allChildren() {
  std::map<pid_t, std::vector<pid_t>> Children;
  for (pid_t Process : numbersIn("/proc"))
    if (std::optional<pid_t> Parent = parentOf(Process))
      Children[*Parent].push_back(Process);
  return Children;
}

void addBelow(pid_t Process, const std::map<pid_t, std::vector<pid_t>> &Children,
              std::set<pid_t> &Found) {
  if (auto Own = Children.find(Process); Own != Children.end())
    for (pid_t Child : Own->second)
      if (Found.insert(Child).second)
        addBelow(Child, Children, Found);
}

/// Whether a thread that sleeps in the system call \p Call goes on only if others let it.
bool waitsForOthers(long Call) {
  static const std::set<long> Waits = {
      SYS_read,           SYS_readv,           SYS_poll,
      SYS_ppoll,          SYS_select,          SYS_pselect6,
      SYS_epoll_wait,     SYS_epoll_pwait,     SYS_epoll_pwait2,
      SYS_accept,         SYS_accept4,         SYS_recvfrom,
      SYS_recvmsg,        SYS_recvmmsg,        SYS_futex,
      SYS_wait4,          SYS_waitid,          SYS_pause,
      SYS_rt_sigsuspend,  SYS_msgrcv,          SYS_semop,
      SYS_semtimedop,     SYS_mq_timedreceive, SYS_io_getevents,
      SYS_io_uring_enter, SYS_rt_sigtimedwait, SYS_restart_syscall};
  return Waits.count(Call) != 0;
}

/// Where the kernel does not tell which call it is: true.
bool isInWait(const std::string &Path) {
  std::string Text = contents(Path + "/syscall");
  long Call;
  return Text.empty() || (std::sscanf(Text.c_str(), "%ld", &Call) == 1 && waitsForOthers(Call));
}

/// A thread that works now and then.
bool naps(const std::string &Path) {
  long Call;
  return std::sscanf(contents(Path + "/syscall").c_str(), "%ld", &Call) == 1 &&
         (Call == SYS_nanosleep || Call == SYS_clock_nanosleep);
}

void addThread(const std::string &Path, bool IsMain, Activity &All) {
  if (!IsMain && naps(Path))
    return;
  bool Known = false;
  std::string Status = contents(Path + "/status");
  for (llvm::StringRef Line : llvm::split(Status, '\n')) {
    auto [Name, Value] = Line.split(":\t");
    uint64_t Number;
    if (Name == "State")
      All.AllSleep &= Value.starts_with("Z") || Value.starts_with("X") ||
                      (Value.starts_with("S") && isInWait(Path));
    else if (Name.ends_with("ctxt_switches") && !Value.getAsInteger(10, Number))
      All.Switches += Number;
    Known |= Name == "State";
  }
  All.AllSleep &= Known; // else it ends just now
}

} // namespace

void adoptOrphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::set<pid_t> descendants() {
  std::set<pid_t> Found;
  addBelow(getpid(), allChildren(), Found);
  return Found;
}

Activity lookAt(const std::set<pid_t> &Processes) {
  Activity All;
  for (pid_t Process : Processes) {
    std::string Threads = "/proc/" + std::to_string(Process) + "/task";
    for (pid_t Thread : numbersIn(Threads))
      addThread(Threads + "/" + std::to_string(Thread), Thread == Process, All);
  }
  return All;
}

bool killAll(std::set<pid_t> Processes) {
  for (int Left = 5000; Left > 0; --Left) {
    auto Children = allChildren();
    std::set<pid_t> All;
    for (pid_t Process : Processes) {
      All.insert(Process);
      addBelow(Process, Children, All);
    }
    Processes.clear(); // a number of one that has ended may soon be another's
    for (pid_t Process : All) {
      kill(Process, SIGKILL);
      waitpid(Process, nullptr, WNOHANG); // of others that end with ECHILD
      if (kill(Process, 0) == 0)
        Processes.insert(Process);
    }
    if (Processes.empty())
      return true;
    std::this_thread::sleep_for(2ms);
  }
  return false;
}

bool killDescendants() {
  for (std::set<pid_t> Left = descendants(); !Left.empty(); Left = descendants())
    if (!killAll(std::move(Left)))
      return false;
  return true;
}

} // namespace nvmove::move
