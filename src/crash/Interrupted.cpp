// Interrupted recovery: see Interrupted.h.
#include "crash/Interrupted.h"

#include "nvmove/nvmove.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::crash {
namespace {

constexpr unsigned StepsMax = 1000; ///< a recovery with more is looked at up to here

} // namespace

llvm::Expected<std::unique_ptr<InterruptedRecovery>> InterruptedRecovery::make(uint64_t Size) {
  std::unique_ptr<InterruptedRecovery> R(new InterruptedRecovery);
  R->Size = Size;
  R->Fd = memfd_create("nvmove-crash-recovery", MFD_CLOEXEC);
  void *Map = MAP_FAILED;
  if (R->Fd >= 0 && ftruncate(R->Fd, static_cast<off_t>(Size)) == 0)
    Map = mmap(nullptr, Size, PROT_READ | PROT_WRITE, MAP_SHARED, R->Fd, 0);
  if (Map == MAP_FAILED)
    return llvm::createStringError(std::error_code(errno, std::generic_category()),
                                   "cannot make a second image of the pool");
  R->Map = static_cast<char *>(Map);
  return std::move(R);
}

InterruptedRecovery::~InterruptedRecovery() {
  if (Map)
    munmap(Map, Size);
  if (Fd >= 0)
    close(Fd);
}

std::string InterruptedRecovery::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(Fd);
}

bool InterruptedRecovery::recover(unsigned Step) const {
  std::string Path = path();
  llvm::outs().flush();
  pid_t Child = fork();
  if (Child == 0) {
    int Null = open("/dev/null", O_WRONLY);
    dup2(Null, STDERR_FILENO);
    for (const char *Name : {"NVMOVE_TRACE", "NVMOVE_METHOD", "NVMOVE_OPEN", "NVMOVE_STATS"})
      unsetenv(Name);
    setenv("NVMOVE_DOMAIN", "process", 1);
    setenv("NVMOVE_KILL_AT", ("recover:" + std::to_string(Step)).c_str(), 1);
    nvm_pool_open(Path.c_str());
    _exit(0); // neither closed nor detached: it dies just behind its last step
  }
  int Status = 0;
  return Child > 0 && waitpid(Child, &Status, 0) == Child && WIFSIGNALED(Status) &&
         WTERMSIG(Status) == SIGKILL;
}

Judgement InterruptedRecovery::judge(Judge &J, const Media &M, uint64_t &Judged) {
  for (unsigned Step = 1; Step <= StepsMax; ++Step) {
    std::memcpy(Map, M.data(), Size);
    bool Killed = recover(Step);
    ++Judged;
    Judgement Said = J.judge(path());
    if (Said.What != Verdict::Right) {
      Said.Message = "recovery was killed at its step " + std::to_string(Step) +
                     (Said.Message.empty() ? "" : ": " + Said.Message);
      return Said;
    }
    if (!Killed)
      return {};
  }
  GaveUp = true;
  return {};
}

} // namespace nvmove::crash
