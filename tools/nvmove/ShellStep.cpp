// Runs commands of the shell: see ShellStep.h.
#include "nvmove/ShellStep.h"

#include "support/Failed.h"
#include "support/Signals.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::tool {

volatile std::sig_atomic_t CameSignal;

namespace {

volatile pid_t Running; ///< what a handler ends; 0: nothing

void takeSignal(int Number) {
  CameSignal = Number;
  if (pid_t Child = Running)
    kill(-Child, Number);
}

} // namespace

void passSignals() {
  for (int Number : {SIGINT, SIGTERM, SIGHUP})
    support::setSignal(Number, takeSignal);
}

void endBySignals() {
  for (int Number : {SIGINT, SIGTERM, SIGHUP})
    support::setSignal(Number, SIG_DFL);
}

int runStep(const ShellStep &S) {
  sigset_t Ending, Mask;
  sigemptyset(&Ending);
  for (int Number : {SIGINT, SIGTERM, SIGHUP})
    sigaddset(&Ending, Number);
  llvm::outs().flush();
  sigprocmask(SIG_BLOCK, &Ending, &Mask);
  pid_t Child = CameSignal ? -1 : fork();
  if (Child == 0) {
    setpgid(0, 0);
    for (int Number : {SIGINT, SIGTERM, SIGHUP})
      support::setSignal(Number, SIG_DFL);
    sigprocmask(SIG_SETMASK, &Mask, nullptr);
    int Fd = open(S.Output.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(Fd, STDOUT_FILENO);
    dup2(Fd, STDERR_FILENO);
    for (const auto &[Name, Value] : S.Environment)
      Value.empty() ? unsetenv(Name) : setenv(Name, Value.c_str(), 1);
    if (chdir(S.Folder.c_str()))
      _exit(126);
    execl("/bin/sh", "sh", "-c", S.Line.c_str(), nullptr);
    _exit(127);
  }
  if (Child > 0)
    setpgid(Child, Child);
  Running = std::max<pid_t>(Child, 0);
  sigprocmask(SIG_SETMASK, &Mask, nullptr);
  int Status = -1;
  while (Child > 0 && waitpid(Child, &Status, 0) < 0 && errno == EINTR)
    continue;
  Running = 0;
  if (Child > 0)
    kill(-Child, SIGKILL); // what it has left behind
  return Status;
}

llvm::Expected<std::string> installedTool(const char *Name) {
  std::string Own =
      llvm::sys::fs::getMainExecutable("nvmove", reinterpret_cast<void *>(&installedTool));
  // bin/NAME; lib/nvmove/NAME; with a folder more where libraries of several machines lie together
  llvm::StringRef Folder = llvm::sys::path::parent_path(Own);
  for (int Levels = 0; Levels < 3; ++Levels) {
    Folder = llvm::sys::path::parent_path(Folder);
    llvm::SmallString<256> Path(Folder);
    llvm::sys::path::append(Path, "bin", Name);
    if (llvm::sys::fs::can_execute(Path))
      return std::string(Path);
  }
  return support::failed("'" + llvm::Twine(Name) + "' is not in bin/ of this installation (of " +
                         Own + "); install nvmove again");
}

OneWord::OneWord(std::string Command) : Text(std::move(Command)) {
  if (Text.find_first_of("'\\") == std::string::npos)
    return;
  llvm::SmallString<128> Path;
  if (llvm::sys::fs::createUniqueDirectory("nvmove-cc", Path))
    return;
  Folder = std::string(Path);
  std::string File = Folder + "/cc";
  std::error_code Error;
  llvm::raw_fd_ostream Out(File, Error);
  Out << "#!/bin/sh\nexec " << Text << " \"$@\"\n";
  Out.close();
  if (!Error && !llvm::sys::fs::setPermissions(File, llvm::sys::fs::owner_all))
    Text = File;
}

OneWord::~OneWord() {
  if (!Folder.empty())
    llvm::sys::fs::remove_directories(Folder);
}

std::string lastLines(const std::string &Path) {
  constexpr size_t Shown = 1500;
  auto Read = llvm::MemoryBuffer::getFile(Path);
  return Read ? (*Read)->getBuffer().take_back(Shown).str() : "";
}

} // namespace nvmove::tool
