// A traced run of a program: see CrashRun.h.
#include "nvmove/CrashRun.h"

#include "crash/Judge.h"
#include "support/Files.h"

#include "llvm/Support/FileSystem.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::tool {

namespace {

llvm::Error failed(const llvm::Twine &What) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), What);
}

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

/// Ctrl-C reaches the program as well; what somebody sends to this process alone is passed on,
/// once.
void passOn(int, siginfo_t *From, void *) {
  if (From->si_code <= 0 && Running) // of kill(), not of the terminal
    kill(std::exchange(Running, 0), SIGINT);
}

/// Runs the program to its end; false: it cannot be started.
bool runProgram(const Arguments &A, const std::string &Trace, int Output, int &Status) {
  sigset_t Interrupt, Mask;
  sigemptyset(&Interrupt);
  sigaddset(&Interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &Interrupt, &Mask);
  pid_t Child = fork();
  if (Child == 0) {
    sigprocmask(SIG_SETMASK, &Mask, nullptr);
    become(A, Trace, Output);
  }
  Running = std::max<pid_t>(Child, 0);
  struct sigaction Action{}, Before;
  Action.sa_sigaction = passOn;
  Action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(SIGINT, &Action, &Before); // a server is stopped so, and explored then
  sigprocmask(SIG_SETMASK, &Mask, nullptr);
  bool Ended = Child > 0 && waitpid(Child, &Status, 0) == Child;
  Running = 0;
  sigaction(SIGINT, &Before, nullptr);
  return Ended;
}

} // namespace

bool wantsOutput(const CrashArguments &C) {
  return llvm::StringRef(C.Check).contains("{acked}") || crash::checksFiles(C.Check);
}

llvm::Error runTraced(const Arguments &A, const std::string &Trace, int &Status) {
  int Output = -1;
  if (wantsOutput(A.Crash)) {
    Output = open((Trace + ".output").c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC,
                  0666);
    if (Output < 0) // without it each loss of what was acknowledged would pass
      return failed(Trace + ".output: " + std::strerror(errno));
  }
  bool Ran = runProgram(A, Trace, Output, Status);
  if (Output >= 0)
    close(Output);
  if (!Ran)
    return failed("the program cannot be started");
  if (wantsOutput(A.Crash) && !A.Quiet)
    showOutput(Trace + ".output");
  if (WIFEXITED(Status) && WEXITSTATUS(Status) == 127)
    return failed("'" + A.Flags[0] + "' cannot be run; is the path right?");
  uint64_t Size = 0;
  if (llvm::sys::fs::file_size(Trace, Size) || !Size)
    return failed((A.Crash.File.empty()
                       ? llvm::Twine("the program opened no pool, and mapped no file for writing "
                                     "that is traced; ")
                       : "the program opened no pool, and did not map '" + absolute(A.Crash.File) +
                             "' for writing, which --file names; ") +
                  "is it built with nvmove-cc, or with nvmove-cc --nvmove-trace=raw?");
  if (WIFSIGNALED(Status)) // what it did up to there is worth a look
    llvm::errs() << "nvmove: warning: the program was ended by signal " << WTERMSIG(Status)
                 << "; its trace ends there\n";
  else if (WEXITSTATUS(Status))
    llvm::errs() << "nvmove: warning: the program ended with status " << WEXITSTATUS(Status)
                 << '\n';
  addStatus(Trace, Status);
  return llvm::Error::success();
}

llvm::Error putBack(const crash::Trace &T) {
  auto Failed = [&](std::error_code Error) { return failed(T.PoolPath + ": " + Error.message()); };
  if (T.Created) {
    std::error_code Error = llvm::sys::fs::remove(T.PoolPath);
    return Error ? Failed(Error) : llvm::Error::success();
  }
  auto Before = llvm::sys::fs::getPermissions(T.PoolPath);
  if (!Before)
    return Failed(Before.getError());
  if (llvm::Error E = support::writeFile(
          T.PoolPath, [&](llvm::raw_ostream &OS) { OS << T.Image->getBuffer(); }))
    return E;
  std::error_code Error = llvm::sys::fs::setPermissions(T.PoolPath, *Before);
  return Error ? Failed(Error) : llvm::Error::success();
}

} // namespace nvmove::tool
