// Failing recoveries: see Recovery.h.
#include "crash/Recovery.h"

#include "nvmove/abi.h"
#include "nvmove/nvmove.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unordered_set>

namespace nvmove::crash {
namespace {

constexpr unsigned StepsMax = 1000000; ///< a recovery with more is looked at up to here
/// Where it moves it: a place of the reserved range that pools of up to 8 GiB can have.
constexpr uint64_t OtherBase = NVM_RANGE_BASE + (UINT64_C(200) << 30);
constexpr unsigned EachMax = 8; ///< so many first steps are all taken, then a quarter on
/// Smaller than those of a run: there is a recovery for each of many states.
constexpr Limits RecoveryLimits = {64, 8, 16};

llvm::Error failed(const char *What) {
  return llvm::createStringError(std::error_code(errno, std::generic_category()), What);
}

} // namespace

llvm::Expected<std::unique_ptr<Recovery>> Recovery::make(uint64_t Size, Model What) {
  std::unique_ptr<Recovery> R(new Recovery);
  R->Size = Size;
  R->What = What;
  R->Fd = memfd_create("nvmove-crash-recovery", MFD_CLOEXEC);
  void *Map = MAP_FAILED;
  if (R->Fd >= 0 && ftruncate(R->Fd, static_cast<off_t>(Size)) == 0)
    Map = mmap(nullptr, Size, PROT_READ | PROT_WRITE, MAP_SHARED, R->Fd, 0);
  if (Map == MAP_FAILED)
    return failed("cannot make a second image of the pool");
  R->Map = static_cast<char *>(Map);
  llvm::SmallString<128> Path;
  if (llvm::sys::fs::createTemporaryFile("nvmove-crash-recovery", "trace", Path))
    return failed("cannot make a file for the trace of a recovery");
  R->TracePath = Path.str().str();
  return std::move(R);
}

Recovery::~Recovery() {
  if (Map)
    munmap(Map, Size);
  if (Fd >= 0)
    close(Fd);
  if (TracePath.empty())
    return;
  llvm::sys::fs::remove(TracePath);
  llvm::sys::fs::remove(TracePath + ".image");
}

std::string Recovery::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(Fd);
}

bool Recovery::recover(const char *Name, const std::string &Value) const {
  std::string Path = path();
  llvm::outs().flush();
  pid_t Child = fork();
  if (Child == 0) {
    int Null = open("/dev/null", O_WRONLY);
    dup2(Null, STDERR_FILENO);
    for (const char *Other :
         {"NVMOVE_TRACE", "NVMOVE_METHOD", "NVMOVE_OPEN", "NVMOVE_STATS", "NVMOVE_BASE"})
      unsetenv(Other);
    if (Elsewhere)
      setenv("NVMOVE_BASE", std::to_string(OtherBase).c_str(), 1);
    setenv("NVMOVE_DOMAIN", What == Model::Power ? "power" : "process", 1);
    setenv(Name, Value.c_str(), 1);
    nvm_pool_open_foreign(Path.c_str());
    _exit(0); // neither closed nor detached: it dies just behind its last step
  }
  int Status = 0;
  return Child > 0 && waitpid(Child, &Status, 0) == Child && WIFSIGNALED(Status) &&
         WTERMSIG(Status) == SIGKILL;
}

Judgement Recovery::judgeKilled(Judge &J, const Media &M, const char *Kind, uint64_t &Judged) {
  for (unsigned Step = 1; Step <= StepsMax; Step += Step < EachMax ? 1 : Step / 4) {
    M.copyTo(Fd, Map);
    bool Killed = recover("NVMOVE_KILL_AT", Kind + (":" + std::to_string(Step)));
    ++Judged;
    Judgement Said = J.judge(path());
    if (Said.What != Verdict::Right) {
      Said.Message = std::string("recovery was killed at its step ") + Kind + " " +
                     std::to_string(Step) + (Said.Message.empty() ? "" : ": " + Said.Message);
      return Said;
    }
    if (!Killed)
      return {};
  }
  GaveUp = true;
  return {};
}

Judgement Recovery::judgeTrace(Judge &J, const Trace &T, const Media &M, uint64_t &Judged) {
  auto Image = M.copy();
  if (!Image) {
    llvm::consumeError(Image.takeError());
    GaveUp = true;
    return {};
  }
  Media &Second = **Image;
  Judgement Worst;
  std::unordered_set<uint64_t> Seen;
  Walk States(Second, RecoveryLimits, 1, [&](const Choices &All) {
    if (Worst.What != Verdict::Right || !Seen.insert(Second.hashOf(All)).second)
      return;
    Second.put(All);
    ++Judged;
    Worst = J.judge(Second.path());
    Second.takeBack(All);
  });
  for (size_t At = 0; At < T.Events.size() && Worst.What == Verdict::Right; ++At) {
    const Event &E = T.Events[At];
    if (E.Kind == NVM_TRACE_OPENED)
      break;
    if (E.Kind == NVM_TRACE_FENCE) {
      States.epoch();
      Second.fence(E.Thread);
    } else {
      Second.apply(At, E, T.Apart);
    }
  }
  if (Worst.What != Verdict::Right)
    Worst.Message =
        "the power failed during recovery" + (Worst.Message.empty() ? "" : ": " + Worst.Message);
  return Worst;
}

Judgement Recovery::judgePower(Judge &J, const Media &M, uint64_t &Judged) {
  M.copyTo(Fd, Map);
  std::error_code Error;
  llvm::raw_fd_ostream Empty(TracePath, Error); // a trace begins in an empty file
  Empty.close();
  recover("NVMOVE_TRACE", TracePath);
  uint64_t Written = 0;
  if (llvm::sys::fs::file_size(TracePath, Written) || !Written)
    return {}; // refused, which was judged before
  llvm::Expected<Trace> T = readTrace(TracePath);
  if (T)
    return judgeTrace(J, *T, M, Judged);
  llvm::consumeError(T.takeError());
  GaveUp = true;
  return {};
}

Judgement Recovery::judge(Judge &J, const Media &M, uint64_t &Judged) {
  Elsewhere = !Elsewhere;
  Judgement Said = judgeKilled(J, M, "recover", Judged);
  if (Said.What == Verdict::Right && Elsewhere)
    Said = judgeKilled(J, M, "move", Judged);
  return Said.What == Verdict::Right && What == Model::Power ? judgePower(J, M, Judged) : Said;
}

} // namespace nvmove::crash
