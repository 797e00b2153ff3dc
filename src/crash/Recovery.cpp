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
constexpr unsigned SecondsMax = 5;
constexpr size_t SaidMax = 4096;
constexpr int ExitOpened = 0, ExitRefused = 3; ///< any other status is none of the two
constexpr unsigned EachMax = 8; ///< so many first steps are all taken, then a quarter on
/// Smaller than those of a run: there is a recovery for each of many states.
constexpr Limits RecoveryLimits = {64, 8, 16};

llvm::Error systemError(const char *What) {
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
    return systemError("cannot make a second image of the pool");
  R->Map = static_cast<char *>(Map);
  Map = mmap(nullptr, SaidMax, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (Map == MAP_FAILED)
    return systemError("cannot make room for the messages of recoveries");
  R->Said = static_cast<char *>(Map);
  llvm::SmallString<128> Path;
  if (llvm::sys::fs::createTemporaryFile("nvmove-crash-recovery", "trace", Path))
    return systemError("cannot make a file for the trace of a recovery");
  R->Traced.set(Path.str().str());
  return std::move(R);
}

Recovery::~Recovery() {
  if (Map)
    munmap(Map, Size);
  if (Said)
    munmap(Said, SaidMax);
  if (Fd >= 0)
    close(Fd);
}

std::string Recovery::path() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(Fd);
}

Recovery::Outcome Recovery::recover(const char *Name, const std::string &Value) const {
  std::string Path = path();
  llvm::outs().flush();
  *Said = 0;
  pid_t Child = fork();
  if (Child == 0) {
    becomeHelper();
    int Null = open("/dev/null", O_WRONLY);
    dup2(Null, STDERR_FILENO);
    for (const char *Other : {"NVMOVE_TRACE", "NVMOVE_TRACE_MAX", "NVMOVE_KILL_AT", "NVMOVE_METHOD",
                              "NVMOVE_OPEN", "NVMOVE_STATS", "NVMOVE_BASE"})
      unsetenv(Other);
    if (Elsewhere)
      setenv("NVMOVE_BASE", std::to_string(OtherBase).c_str(), 1);
    setenv("NVMOVE_DOMAIN", What == Model::Power ? "power" : "process", 1);
    alarm(SecondsMax);
    setenv(Name, Value.c_str(), 1);
    const NVM_POOL *Pool = nvm_pool_open_foreign(Path.c_str());
    if (!Pool)
      snprintf(Said, SaidMax, "%s", nvm_strerror());
    _exit(Pool ? ExitOpened : ExitRefused); // neither closed nor detached: it dies behind all steps
  }
  int Status = 0;
  if (Child < 0 || waitpid(Child, &Status, 0) != Child)
    return {End::Other, "cannot be started"};
  if (WIFSIGNALED(Status) && WTERMSIG(Status) == SIGKILL)
    return {End::Killed, ""};
  if (WIFSIGNALED(Status) && WTERMSIG(Status) == SIGALRM)
    return {End::Hung, "took more than " + std::to_string(SecondsMax) + " s"};
  if (WIFSIGNALED(Status))
    return {End::Other, "was ended by signal " + std::to_string(WTERMSIG(Status))};
  if (WEXITSTATUS(Status) == ExitRefused)
    return {End::Refused, std::string("was refused: ") + Said};
  if (WEXITSTATUS(Status) != ExitOpened)
    return {End::Other, "ended with status " + std::to_string(WEXITSTATUS(Status))};
  return {End::Opened, ""};
}

/// The pool was opened before as a copy, at the address that it has. That it cannot be moved to
/// another one is no fault.
Judgement Recovery::judgeEnd(const Judge &J, const Outcome &How, const std::string &Which) const {
  std::string Message = "recovery that was " + Which + " " + How.Text;
  if (How.What == End::Hung)
    return {Verdict::Hung, Message};
  if (How.What == End::Other)
    return {Verdict::Died, Message};
  if (How.What == End::Refused && !Elsewhere && !J.mayRefuse())
    return {Verdict::NotRecovered, Message};
  return {};
}

Judgement Recovery::judgeKilled(Judge &J, const Media &M, const char *Kind, Interrupted &Count) {
  bool IsMove = llvm::StringRef(Kind) == "move";
  for (unsigned Step = 1; Step <= StepsMax; Step += Step < EachMax ? 1 : Step / 4) {
    if (!GoesOn())
      return {};
    M.copyTo(Fd, Map);
    std::string At = Kind + (" " + std::to_string(Step));
    Outcome How = recover("NVMOVE_KILL_AT", Kind + (":" + std::to_string(Step)));
    Judgement Said = judgeEnd(J, How, "to be killed at its step " + At);
    if (Said.What != Verdict::Right)
      return Said;
    bool Killed = How.What == End::Killed;
    Count.All += Killed;
    Count.Moves += Killed && IsMove;
    Count.Stayed += IsMove && How.What == End::Refused;
    Said = J.judge(path());
    if (Said.What != Verdict::Right) {
      Said.Message = "recovery was killed " +
                     (Killed ? "at its step " + At : "after its last step") +
                     (Said.Message.empty() ? "" : ": " + Said.Message);
      return Said;
    }
    if (!Killed)
      return {};
  }
  leaveOut("some recovery has more steps than it was killed at");
  return {};
}

Judgement Recovery::judgeTrace(Judge &J, const Trace &T, const Media &M, Interrupted &Count) {
  auto Image = M.copy();
  if (!Image) {
    leaveOut("no power failure of some recovery: " + llvm::toString(Image.takeError()));
    return {};
  }
  Media &Second = **Image;
  Judgement Worst;
  std::unordered_set<uint64_t> Seen;
  Walk States(Second, RecoveryLimits, 1, [&](const Choices &All) {
    if (Worst.What != Verdict::Right || !GoesOn() || !Seen.insert(Second.hashOf(All)).second)
      return;
    Second.put(All);
    ++Count.All;
    Worst = J.judge(Second.path());
    Second.takeBack(All);
  });
  for (size_t At = 0; At < T.Events.size() && Worst.What == Verdict::Right && GoesOn(); ++At) {
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
    Worst.Message = "the power systemError during recovery" +
                    (Worst.Message.empty() ? "" : ": " + Worst.Message);
  return Worst;
}

static bool hasNoRoom(const std::string &Path) {
  constexpr uint64_t Least = 8 << 20; // what a trace takes at once
  llvm::ErrorOr<llvm::sys::fs::space_info> Space = llvm::sys::fs::disk_space(Path);
  return Space && Space->available < Least;
}

Judgement Recovery::judgePower(Judge &J, const Media &M, Interrupted &Count) {
  M.copyTo(Fd, Map);
  const std::string &TracePath = Traced.path();
  for (const std::string &Path : {TracePath, TracePath + ".image"}) { // they begin empty
    std::error_code Error;
    llvm::raw_fd_ostream Empty(Path, Error);
  }
  Outcome How = recover("NVMOVE_TRACE", TracePath);
  if (How.What == End::Other && hasNoRoom(TracePath)) {
    leaveOut("no power failure of some recovery: the disk of " + TracePath + " is full");
    return {};
  }
  Judgement Said = judgeEnd(J, How, "traced");
  if (Said.What != Verdict::Right || How.What != End::Opened)
    return Said;
  llvm::Expected<Trace> T = readTrace(TracePath);
  if (T && !T->Cut)
    return judgeTrace(J, *T, M, Count);
  leaveOut("no power failure of some recovery: its trace " +
           (T ? "is not whole" : "cannot be read: " + llvm::toString(T.takeError())));
  return {};
}

Judgement Recovery::judge(Judge &J, const Media &M, bool Moves, Interrupted &Count) {
  Elsewhere = Moves;
  Judgement Said = judgeKilled(J, M, "recover", Count);
  if (Said.What == Verdict::Right && Elsewhere)
    Said = judgeKilled(J, M, "move", Count);
  return Said.What == Verdict::Right && What == Model::Power ? judgePower(J, M, Count) : Said;
}

Judgement Recovery::judgeBoth(Judge &J, const Media &M, Interrupted &Count) {
  Judgement Said = judge(J, M, true, Count);
  return Said.What == Verdict::Right ? judge(J, M, false, Count) : Said;
}

} // namespace nvmove::crash
