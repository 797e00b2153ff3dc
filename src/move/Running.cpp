// Starts programs, types into them, kills them: see Running.h.
#include "move/Running.h"

#include "move/Activity.h"

#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <thread>
#include <unistd.h>

namespace nvmove::move {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
constexpr auto BetweenLooks = 2ms;
constexpr double UnmovedSeconds = 0.5; ///< a program that has not run by then reads no line
constexpr size_t TextMax = 16 << 20;   ///< of an answer

double secondsSince(Clock::time_point Begin) {
  return std::chrono::duration<double>(Clock::now() - Begin).count();
}

/// In a child: becomes the shell that runs \p Line.
[[noreturn]] void becomeShell(const Launch &L, const std::string &Line, bool IsProgram, int Input,
                              int Output) {
  for (int Number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    signal(Number, SIG_DFL);
  int Errors = open(L.Errors.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
  dup2(Input, STDIN_FILENO);
  dup2(Output, STDOUT_FILENO);
  dup2(Errors, STDERR_FILENO);
  for (const auto &[Name, Value] : L.Variables)
    !IsProgram || Value.empty() ? unsetenv(Name.c_str()) : setenv(Name.c_str(), Value.c_str(), 1);
  if (chdir(L.Folder.c_str()))
    _exit(126);
  execl("/bin/sh", "sh", "-c", Line.c_str(), nullptr);
  _exit(127);
}

/// A terminal that repeats nothing of what is typed. The master is \p Ours.
bool makeTerminal(int &Ours, int &Its) {
  Ours = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (Ours < 0 || grantpt(Ours) || unlockpt(Ours))
    return false;
  Its = open(ptsname(Ours), O_RDWR | O_NOCTTY | O_CLOEXEC);
  termios Mode;
  if (Its < 0 || tcgetattr(Its, &Mode))
    return false;
  Mode.c_lflag &= ~static_cast<tcflag_t>(ECHO);
  Mode.c_oflag &= ~static_cast<tcflag_t>(OPOST);
  return tcsetattr(Its, TCSANOW, &Mode) == 0;
}

} // namespace

llvm::Expected<std::unique_ptr<Running>> Running::start(const Launch &L) {
  std::signal(SIGPIPE, SIG_IGN);
  std::unique_ptr<Running> Made(new Running(L));
  auto Begin = Clock::now();
  if (Made->isTool())
    return Made;
  if (!Made->spawn())
    return llvm::createStringError(std::error_code(errno, std::generic_category()),
                                   "no process can be started: %s", strerror(errno));
  Made->awaitIdle(Made->Start);
  Made->Start.Seconds = secondsSince(Begin);
  return Made;
}

Running::~Running() {
  kill();
  closeFiles();
}

bool Running::makePipes(int (&Input)[2], int (&Output)[2]) {
  if (!Own.Terminal)
    return pipe2(Input, O_CLOEXEC) == 0 && pipe2(Output, O_CLOEXEC) == 0;
  int Ours, Its;
  if (!makeTerminal(Ours, Its))
    return false;
  Input[0] = Its, Input[1] = Ours;
  Output[0] = fcntl(Ours, F_DUPFD_CLOEXEC, 0), Output[1] = fcntl(Its, F_DUPFD_CLOEXEC, 0);
  return Output[0] >= 0 && Output[1] >= 0;
}

bool Running::spawn() {
  int Input[2] = {-1, -1}, Output[2] = {-1, -1};
  if (!makePipes(Input, Output))
    return false;
  Process = fork();
  if (Process == 0) {
    setsid();
    if (Own.Terminal)
      ioctl(Input[0], TIOCSCTTY, 0);
    becomeShell(Own, "exec " + Own.Command, true, Input[0], Output[1]);
  }
  close(Input[0]);
  close(Output[1]);
  ToIt = Input[1], FromIt = Output[0];
  for (int File : {ToIt, FromIt})
    fcntl(File, F_SETFL, fcntl(File, F_GETFL) | O_NONBLOCK);
  return Process > 0;
}

pid_t Running::spawnCommand(const std::string &Line, int Output) {
  pid_t Command = fork();
  if (Command == 0) {
    setpgid(0, 0);
    becomeShell(Own, Line, isTool(), open("/dev/null", O_RDONLY | O_CLOEXEC), Output);
  }
  return Command;
}

void Running::read(std::string &Text) const {
  char Some[4096];
  for (ssize_t Size; FromIt >= 0 && (Size = ::read(FromIt, Some, sizeof Some)) > 0;)
    if (Text.size() < TextMax)
      Text.append(Some, static_cast<size_t>(Size));
}

/// False: the program reads no more.
bool Running::type(const std::string &Text) {
  size_t Done = 0;
  for (auto Begin = Clock::now();
       Done < Text.size() && secondsSince(Begin) < Own.SecondsMax && !isInterrupted();) {
    ssize_t Size = write(ToIt, Text.data() + Done, Text.size() - Done);
    if (Size < 0 && errno != EAGAIN && errno != EINTR)
      return false;
    if (Size < 0)
      std::this_thread::sleep_for(BetweenLooks);
    Done += static_cast<size_t>(std::max<ssize_t>(Size, 0));
  }
  return Done == Text.size();
}

/// Whether something was typed that the program has not read.
bool Running::hasInput() const {
  int Left = 0;
  return !Own.Terminal && ToIt >= 0 && ioctl(ToIt, FIONREAD, &Left) == 0 && Left > 0;
}

/// A daemon's first process may end well, while another one goes on; how that ends is what counts.
void Running::noteEnd(Answer &A) {
  int Ended;
  if (Process > 0 && waitpid(Process, &Ended, WNOHANG) == Process) {
    Process = 0;
    Status = Ended;
  }
  if (!Status)
    return;
  for (pid_t Orphan : descendants())
    if (waitpid(Orphan, &Ended, WNOHANG) == Orphan)
      Status = Ended;
  if (*Status || descendants().empty())
    A.Status = Status;
}

/// Waits until it waits, and has been given a processor more often than \p MoreThan: a line that was typed
/// takes its time to reach a program by a terminal.
void Running::awaitIdle(Answer &A, uint64_t MoreThan) {
  auto Begin = Clock::now();
  Activity Before;
  Before.AllSleep = false;
  for (;;) {
    read(A.Text);
    A.Interrupted = isInterrupted();
    noteEnd(A);
    if (A.Status)
      read(A.Text);
    Activity Now = lookAt(descendants());
    bool HasRun = Now.Switches > MoreThan || secondsSince(Begin) > UnmovedSeconds;
    if (A.Interrupted || A.Status || (HasRun && Now.isSame(Before) && !hasInput()))
      break;
    if (secondsSince(Begin) > Own.SecondsMax) {
      A.TookTooLong = true;
      break;
    }
    Before = Now;
    std::this_thread::sleep_for(BetweenLooks);
  }
  read(A.Text);
}

/// Waits for the end of \p Command. After \p KillAfter seconds all is killed.
void Running::awaitCommand(pid_t Command, double KillAfter, Answer &A) {
  auto Begin = Clock::now();
  int Ended = 0;
  while (waitpid(Command, &Ended, WNOHANG) == 0) {
    read(A.Text);
    double Taken = secondsSince(Begin);
    A.Interrupted = isInterrupted();
    A.TookTooLong = Taken > Own.SecondsMax && KillAfter > Own.SecondsMax;
    if (Taken >= KillAfter)
      return kill();
    if (A.TookTooLong || A.Interrupted)
      return void(killAll({Command}));
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  A.Command = Ended;
}

Answer Running::perform(const Step &S) {
  Answer A;
  auto Begin = Clock::now();
  uint64_t Before = S.IsCommand ? 0 : lookAt(descendants()).Switches;
  if (S.IsCommand) {
    A = performKilled(S, HUGE_VAL);
  } else if (!type(S.Text + "\n")) {
    noteEnd(A);
    A.TookTooLong = !A.Status;
  }
  if (!isTool() && !A.TookTooLong && !A.Interrupted)
    awaitIdle(A, Before);
  A.Seconds = secondsSince(Begin);
  return A;
}

Answer Running::performKilled(const Step &S, double Seconds) {
  Answer A;
  if (!S.IsCommand) {
    type(S.Text + "\n");
    for (auto Begin = Clock::now(); secondsSince(Begin) < Seconds && !isInterrupted();)
      read(A.Text);
    kill();
    read(A.Text);
    return A;
  }
  std::string Path = Own.Errors + ".output";
  int Output = open(Path.c_str(), O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
  pid_t Command = spawnCommand(S.Text, Output);
  if (Command > 0)
    awaitCommand(Command, Seconds, A);
  if (std::isfinite(Seconds))
    kill();
  char Some[4096];
  lseek(Output, 0, SEEK_SET);
  for (ssize_t Size; (Size = ::read(Output, Some, sizeof Some)) > 0 && A.Text.size() < TextMax;)
    A.Text.append(Some, static_cast<size_t>(Size));
  close(Output);
  return A;
}

void Running::kill() {
  killDescendants();
  Process = 0;
}

void Running::end() {
  close(ToIt);
  ToIt = -1;
  Answer A;
  for (int Number : {0, SIGTERM}) {
    for (pid_t Each : descendants())
      ::kill(Each, Number);
    for (auto Begin = Clock::now(); !A.Status && secondsSince(Begin) < 2 && !isInterrupted();) {
      read(A.Text);
      noteEnd(A);
      std::this_thread::sleep_for(BetweenLooks);
    }
  }
  kill();
}

void Running::closeFiles() {
  for (int *File : {&ToIt, &FromIt}) {
    if (*File >= 0)
      close(*File);
    *File = -1;
  }
}

} // namespace nvmove::move
