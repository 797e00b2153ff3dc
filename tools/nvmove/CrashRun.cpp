// A traced run of a program: see CrashRun.h.
#include "nvmove/CrashRun.h"

#include "nvmove/CrashAside.h"

#include "crash/Findings.h"
#include "crash/Helper.h"
#include "crash/Judge.h"
#include "crash/Temporary.h"
#include "support/Failed.h"
#include "support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <set>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::tool {

using support::failed;

namespace {

/// Wherever the program goes. Not support::absolutePath, which takes "link/.." for nothing: this
/// path is opened.
std::string absolute(const std::string &Path) {
  llvm::SmallString<128> Whole(Path);
  llvm::sys::fs::make_absolute(Whole);
  return Whole.str().str();
}

/// What the program printed, and nobody saw.
void showOutput(const std::string &Path) {
  if (auto Printed = llvm::MemoryBuffer::getFile(Path))
    llvm::errs() << (*Printed)->getBuffer();
}

/// \p Output: where stdout goes for the checker; -1: it wants none.
[[noreturn]] void become(const Arguments &A, const std::string &Trace, int Output) {
  setenv("NVMOVE_TRACE", absolute(Trace).c_str(), 1);
  constexpr uint64_t TraceMax = UINT64_C(1) << 30;
  setenv("NVMOVE_TRACE_MAX", std::to_string(A.Crash.TraceMax.value_or(TraceMax)).c_str(), 1);
  setenv("NVMOVE_DOMAIN", A.Crash.Model == "power" ? "power" : "process", 1);
  if (!A.Crash.Method.empty())
    setenv("NVMOVE_METHOD", A.Crash.Method.c_str(), 1);
  if (!A.Crash.File.empty())
    setenv("NVMOVE_TRACE_FILE", absolute(A.Crash.File).c_str(), 1);
  if (A.Quiet) {
    int Null = open("/dev/null", O_WRONLY);
    dup2(Null, STDOUT_FILENO);
    dup2(Null, STDERR_FILENO);
  } else {
    dup2(STDERR_FILENO, STDOUT_FILENO); // stdout is the report's
  }
  if (Output >= 0)
    dup2(Output, STDOUT_FILENO);
  std::vector<char *> Words;
  for (const std::string &Word : A.Flags)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  execvp(Words[0], Words.data());
  _exit(127);
}

/// The trace tells how the program ended, too. Where there is no room for that it is as it was.
void addStatus(const std::string &Trace, int Status) {
  nvm_trace_record Record{0, NVM_TRACE_ENDED, 0, 0, static_cast<uint64_t>(Status)};
  auto TooLarge = std::signal(SIGXFSZ, SIG_IGN);
  int Fd = open(Trace.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  off_t Size = lseek(Fd, 0, SEEK_END);
  if (write(Fd, &Record, sizeof Record) != ssize_t{sizeof Record}) {
    llvm::errs() << "nvmove: warning: " << Trace
                 << ": how the program ended cannot be added: " << std::strerror(errno) << '\n';
    if (Size >= 0 && ftruncate(Fd, Size))
      llvm::errs() << "nvmove: warning: " << Trace << ": " << std::strerror(errno) << '\n';
  }
  close(Fd);
  std::signal(SIGXFSZ, TooLarge);
}

volatile pid_t Running; ///< the program
volatile std::sig_atomic_t Interrupted;
constexpr std::chrono::milliseconds Ending(2000); ///< for a program that was asked to end

/// Ctrl-C reaches the program as well; what somebody sends to this process alone is passed on,
/// once.
void passOn(int, siginfo_t *From, void *) {
  Interrupted = 1;
  if (From->si_code <= 0 && Running) // of kill(), not of the terminal
    kill(std::exchange(Running, 0), SIGINT);
}

/// The program is asked to end as this process is, and is ended if it does not.
void endAll(int Signal) {
  constexpr std::chrono::milliseconds Each(10);
  constexpr timespec Pause{0, std::chrono::nanoseconds(Each).count()};
  if (pid_t Program = Running) {
    kill(Program, Signal);
    for (auto Left = Ending; Left.count() > 0 && !crash::hasEnded(Program); Left -= Each)
      nanosleep(&Pause, nullptr);
    kill(Program, SIGKILL);
  }
  crash::removeTemporaries();
  restoreAside();
  std::signal(Signal, SIG_DFL);
  raise(Signal);
}

/// While it lives, signals are the program's as well.
class SignalsOfProgram {
public:
  SignalsOfProgram() {
    for (size_t I = 0; I < std::size(Numbers); ++I) {
      struct sigaction Action{};
      Action.sa_flags = SA_RESTART;
      if (Numbers[I] == SIGINT) { // a server is stopped so, and explored then
        Action.sa_sigaction = passOn;
        Action.sa_flags |= SA_SIGINFO;
      } else {
        Action.sa_handler = endAll;
      }
      sigaction(Numbers[I], &Action, &Before[I]);
      if (Numbers[I] == SIGHUP && Before[I].sa_handler == SIG_IGN)
        sigaction(SIGHUP, &Before[I], nullptr); // nohup
    }
  }
  ~SignalsOfProgram() {
    for (size_t I = 0; I < std::size(Numbers); ++I)
      sigaction(Numbers[I], &Before[I], nullptr);
  }
  SignalsOfProgram(const SignalsOfProgram &) = delete;
  SignalsOfProgram &operator=(const SignalsOfProgram &) = delete;

private:
  static constexpr int Numbers[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction Before[std::size(Numbers)];
};

/// The sockets that a process has open, as the kernel names them.
std::set<std::string> socketsOf(pid_t Process) {
  namespace fs = std::filesystem;
  std::set<std::string> Found;
  std::error_code Error;
  for (fs::directory_iterator At("/proc/" + std::to_string(Process) + "/fd", Error), End;
       !Error && At != End; At.increment(Error)) {
    std::error_code Gone;
    std::string To = fs::read_symlink(At->path(), Gone).string();
    if (!Gone && llvm::StringRef(To).starts_with("socket:"))
      Found.insert(To);
  }
  return Found;
}

/// Waits for the program, looks at it now and then, and ends it when its time is over.
void watchProgram(pid_t Program, TracedRun &Made) {
  using namespace std::chrono;
  const std::set<std::string> Ours = socketsOf(getpid());
  const auto Begin = steady_clock::now();
  auto Taken = [&] { return duration<double>(steady_clock::now() - Begin).count(); };
  int Fd = static_cast<int>(syscall(SYS_pidfd_open, Program, 0)); // -1: looked at instead
  double Most = Made.SecondsMax ? Made.SecondsMax : HUGE_VAL;
  for (milliseconds Pause(1); !crash::hasEnded(Program);
       Pause = std::min(2 * Pause, milliseconds(200))) {
    Made.HasSockets |= llvm::any_of(socketsOf(Program), [&](auto &S) { return !Ours.count(S); });
    pollfd File{Fd, POLLIN, 0};
    poll(&File, 1, static_cast<int>(Pause.count()));
    if (Taken() < Most)
      continue;
    kill(Program, Made.Hung ? SIGKILL : SIGTERM);
    Made.Hung = true;
    Most = Taken() + duration<double>(Ending).count();
  }
  if (Fd >= 0)
    close(Fd);
  Made.Seconds = Taken();
}

/// Runs the program to its end; false: it cannot be started.
bool runProgram(const Arguments &A, const std::string &Trace, int Output, TracedRun &Made) {
  sigset_t Ending, Mask;
  sigemptyset(&Ending);
  for (int Signal : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&Ending, Signal);
  sigprocmask(SIG_BLOCK, &Ending, &Mask);
  pid_t Child = fork();
  if (Child == 0) {
    sigprocmask(SIG_SETMASK, &Mask, nullptr);
    become(A, Trace, Output);
  }
  Running = std::max<pid_t>(Child, 0);
  Interrupted = 0;
  SignalsOfProgram Signals;
  sigprocmask(SIG_SETMASK, &Mask, nullptr);
  if (Child > 0)
    watchProgram(Child, Made);
  Running = 0;
  Made.Interrupted = Interrupted;
  return Child > 0 && waitpid(Child, &Made.Status, 0) == Child;
}

} // namespace

bool wantsOutput(const CrashArguments &C) {
  return llvm::StringRef(C.Check).contains("{acked}") || crash::checksFiles(C.Check);
}

llvm::Error runTraced(const Arguments &A, const std::string &Trace, TracedRun &Made) {
  int Output = -1;
  if (wantsOutput(A.Crash)) {
    Output = open((Trace + ".output").c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC,
                  0600);
    if (Output < 0) // without it each loss of what was acknowledged would pass
      return failed(Trace + ".output: " + std::strerror(errno));
  }
  bool Ran = runProgram(A, Trace, Output, Made);
  int Status = Made.Status;
  if (Output >= 0)
    close(Output);
  if (!Ran)
    return failed("the program cannot be started");
  if (wantsOutput(A.Crash) && !A.Quiet)
    showOutput(Trace + ".output");
  if (WIFEXITED(Status) && WEXITSTATUS(Status) == 127)
    return failed("'" + A.Flags[0] + "' cannot be run; is the path right?");
  uint64_t Size = 0;
  std::string How = Status ? "the program " + crash::howProcessEnded(Status) : "";
  if (llvm::sys::fs::file_size(Trace, Size) || !Size)
    return failed("the program opened no pool, and " +
                  (A.Crash.File.empty() ? "mapped no file for writing that is traced"
                                        : "did not map '" + absolute(A.Crash.File) +
                                              "' for writing, which --file names") +
                  (Status ? "; it " + crash::howProcessEnded(Status) : "") +
                  (Status && A.Quiet ? " (without -q you see what it says); " : "; ") +
                  "is it built with nvmove-cc, or with nvmove-cc --nvmove-trace=raw?");
  if (Status) // what it did up to there is worth a look
    llvm::errs() << "nvmove: warning: " << How
                 << (WIFSIGNALED(Status) ? "; its trace ends there\n" : "\n");
  addStatus(Trace, Status);
  return llvm::Error::success();
}

} // namespace nvmove::tool
