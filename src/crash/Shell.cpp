// Commands: see Shell.h.
#include "crash/Shell.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::crash {
namespace {

constexpr int NotExecutable = 126, NotFound = 127; ///< of the shell

/// In a process group of its own; -1: not started. Not by fork, which copies what this process has.
pid_t start(const std::string &Line, int Into, const sigset_t &Mask) {
  pid_t Child = -1;
  posix_spawnattr_t Attributes;
  posix_spawn_file_actions_t Files;
  posix_spawnattr_init(&Attributes);
  posix_spawnattr_setflags(&Attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  posix_spawnattr_setsigmask(&Attributes, &Mask);
  posix_spawn_file_actions_init(&Files);
  posix_spawn_file_actions_adddup2(&Files, Into, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&Files, Into, STDERR_FILENO);
  const char *Words[] = {"sh", "-c", Line.c_str(), nullptr};
  if (posix_spawn(&Child, "/bin/sh", &Files, &Attributes, const_cast<char **>(Words), environ))
    Child = -1;
  posix_spawn_file_actions_destroy(&Files);
  posix_spawnattr_destroy(&Attributes);
  return Child;
}

} // namespace

bool CommandEnd::isMissing() const {
  return !Hung && WIFEXITED(Status) &&
         (WEXITSTATUS(Status) == NotExecutable || WEXITSTATUS(Status) == NotFound);
}

std::string CommandEnd::text() const {
  if (Hung)
    return "took more than 5 s";
  return WIFSIGNALED(Status) ? "ended with signal " + std::to_string(WTERMSIG(Status))
                             : "ended with status " + std::to_string(WEXITSTATUS(Status));
}

CommandEnd runShell(const std::string &Line) {
  CommandEnd Made;
  Printed Said;
  llvm::outs().flush();
  sigset_t Ending, Before; // whoever ends this process finds the child's number
  sigemptyset(&Ending);
  for (int Signal : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&Ending, Signal);
  sigprocmask(SIG_BLOCK, &Ending, &Before);
  pid_t Child = start(Line, Said.into(), Before);
  std::optional<HelperGroup> Group;
  if (Child > 0)
    Group.emplace(Child);
  sigprocmask(SIG_SETMASK, &Before, nullptr);
  Made.NotStarted = !Group;
  if (Group)
    static_cast<End &>(Made) = awaitEnd(Child, Group, Said);
  Made.Said = Said.told();
  return Made;
}

std::string shellWord(llvm::StringRef Word) {
  constexpr const char *Plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-=,+:";
  if (!Word.empty() && Word.find_first_not_of(Plain) == llvm::StringRef::npos)
    return Word.str();
  std::string Made = "'";
  for (char C : Word)
    Made += C == '\'' ? std::string("'\\''") : std::string(1, C);
  return Made + "'";
}

std::string replaced(std::string Text, const std::string &From, const std::string &To) {
  for (size_t At = 0; (At = Text.find(From, At)) != std::string::npos; At += To.size())
    Text.replace(At, From.size(), To);
  return Text;
}

} // namespace nvmove::crash
