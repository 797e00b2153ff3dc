// Commands: see Shell.h.
#include "crash/Shell.h"

#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::crash {
namespace {

constexpr int MillisecondsMax = 5000;
constexpr size_t LineMax = 200;                    ///< of what it printed
constexpr int NotExecutable = 126, NotFound = 127; ///< of the shell

/// False: it has not ended by then.
bool awaitEnd(pid_t Child) {
  int Fd = static_cast<int>(syscall(SYS_pidfd_open, Child, 0));
  if (Fd < 0)
    return true; // an old kernel: as long as it takes
  pollfd Ended{Fd, POLLIN, 0};
  int Ready;
  while ((Ready = poll(&Ended, 1, MillisecondsMax)) < 0 && errno == EINTR)
    continue;
  close(Fd);
  return Ready != 0;
}

std::string firstLineOf(int Fd) {
  char Text[LineMax];
  ssize_t Length = pread(Fd, Text, sizeof Text, 0);
  return Length > 0 ? llvm::StringRef(Text, size_t(Length)).ltrim('\n').split('\n').first.str()
                    : "";
}

/// In a process group of its own; -1: not started. Not by fork, which copies what this process has.
pid_t start(const std::string &Line, int Printed) {
  pid_t Child = -1;
  posix_spawnattr_t Attributes;
  posix_spawn_file_actions_t Files;
  posix_spawnattr_init(&Attributes);
  posix_spawnattr_setflags(&Attributes, POSIX_SPAWN_SETPGROUP);
  posix_spawn_file_actions_init(&Files);
  posix_spawn_file_actions_adddup2(&Files, Printed, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&Files, Printed, STDERR_FILENO);
  const char *Words[] = {"sh", "-c", Line.c_str(), nullptr};
  if (posix_spawn(&Child, "/bin/sh", &Files, &Attributes, const_cast<char **>(Words), environ))
    Child = -1;
  posix_spawn_file_actions_destroy(&Files);
  posix_spawnattr_destroy(&Attributes);
  return Child;
}

} // namespace

std::string CommandEnd::text() const {
  std::string How = Hung ? "took more than 5 s"
                    : WIFSIGNALED(Status)
                        ? "ended with signal " + std::to_string(WTERMSIG(Status))
                        : "ended with status " + std::to_string(WEXITSTATUS(Status));
  return Said.empty() ? How : How + ": " + Said;
}

CommandEnd runShell(const std::string &Line) {
  CommandEnd End;
  int Printed = memfd_create("nvmove-printed", MFD_CLOEXEC);
  llvm::outs().flush();
  pid_t Child = start(Line, Printed);
  if (Child < 0) {
    End.CannotRun = true;
    return End;
  }
  End.Hung = !awaitEnd(Child);
  if (End.Hung)
    kill(-Child, SIGKILL);
  while (waitpid(Child, &End.Status, 0) < 0 && errno == EINTR)
    continue;
  End.Said = firstLineOf(Printed);
  close(Printed);
  End.CannotRun = !End.Hung && WIFEXITED(End.Status) &&
                  (WEXITSTATUS(End.Status) == NotExecutable || WEXITSTATUS(End.Status) == NotFound);
  return End;
}

std::string replaced(std::string Text, const std::string &From, const std::string &To) {
  for (size_t At = 0; (At = Text.find(From, At)) != std::string::npos; At += To.size())
    Text.replace(At, From.size(), To);
  return Text;
}

} // namespace nvmove::crash
