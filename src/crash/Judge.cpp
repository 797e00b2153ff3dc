// Verdicts on states: see Judge.h.
#include "crash/Judge.h"

#include "nvmove/nvmove.h"

#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::crash {
namespace {

constexpr int MillisecondsMax = 5000;
constexpr size_t LinesMax =
    1 << 20; ///< of a program's data that are compared; reserved, not touched

struct Wanted {
  uint64_t Line, Before, After; ///< number; masks of the bytes that count
  char BytesBefore[LineSize], BytesAfter[LineSize];
};

} // namespace

/// Between the two processes.
struct Judge::Shared {
  Verdict What;
  uint64_t Place;
  unsigned char Found, Before, After;
  char Message[512], Path[64]; ///< of the image
  size_t Count;
  Wanted Lines[LinesMax];
};

namespace {

using Check = int (*)(NVM_POOL *);

struct FaultLines {
  char *Text;
  size_t Size;
};

void takeFault(void *Context, const char *Line) {
  auto *Into = static_cast<FaultLines *>(Context);
  if (!*Into->Text)
    snprintf(Into->Text, Into->Size, "%s", Line);
}

/// Byte of a line that is wrong under the right state that \p Mask and \p Bytes say; LineSize:
/// none.
unsigned wrongByte(const char *Line, uint64_t Mask, const char *Bytes) {
  for (; Mask; Mask &= Mask - 1) {
    unsigned I = static_cast<unsigned>(__builtin_ctzll(Mask));
    if (Line[I] != Bytes[I])
      return I;
  }
  return LineSize;
}

} // namespace

Judge::Judge(const Media &M, std::string Checker, std::string Command)
    : M(M), Checker(std::move(Checker)), Command(std::move(Command)) {
  void *Map = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (Map == MAP_FAILED)
    llvm::report_fatal_error("out of memory for verdicts");
  Common = static_cast<Shared *>(Map);
}

Judge::~Judge() {
  stop();
  munmap(Common, sizeof(Shared));
}

bool Judge::expect(const std::map<uint64_t, LineBytes> *Before,
                   const std::map<uint64_t, LineBytes> *After) {
  Common->Count = 0;
  if (!Before)
    return true;
  bool Fits = true;
  auto Take = [&, this](uint64_t Line, const LineBytes *B, const LineBytes *A) {
    if (Common->Count == LinesMax) {
      Fits = false;
      return;
    }
    Wanted &W = Common->Lines[Common->Count++];
    W = {Line, B ? B->Mask : 0, A ? A->Mask : 0, {}, {}};
    if (B)
      std::memcpy(W.BytesBefore, B->Bytes, LineSize);
    if (A)
      std::memcpy(W.BytesAfter, A->Bytes, LineSize);
  };
  auto B = Before->begin();
  auto A = After->begin();
  while (B != Before->end() || A != After->end()) {
    bool TakeB = B != Before->end() && (A == After->end() || B->first <= A->first);
    bool TakeA = A != After->end() && (B == Before->end() || A->first <= B->first);
    Take(TakeB ? B->first : A->first, TakeB ? &B->second : nullptr, TakeA ? &A->second : nullptr);
    B = TakeB ? std::next(B) : B;
    A = TakeA ? std::next(A) : A;
  }
  return Fits;
}

namespace {

/// The life of the other process: a byte in, a state judged, a byte out.
class WorkerLoop {
public:
  explicit WorkerLoop(Check Checker) : Checker(Checker) {}

  template <class S> void judge(S &Common) {
    Common.What = Verdict::Right;
    *Common.Message = 0;
    NVM_POOL *Pool = nvm_pool_open(Common.Path);
    if (!Pool) {
      Common.What = Verdict::NotRecovered;
      snprintf(Common.Message, sizeof Common.Message, "%s", nvm_strerror());
      return;
    }
    FaultLines Faults{Common.Message, sizeof Common.Message};
    if (nvm_pool_verify(Pool, takeFault, &Faults) != 0)
      Common.What = Verdict::Damaged;
    else
      compare(Common, Pool);
    if (Common.What == Verdict::Right && Checker && Checker(Pool) != 0) {
      Common.What = Verdict::Refused;
      snprintf(Common.Message, sizeof Common.Message, "nvm_crash_check did not return 0");
    }
    nvm_pool_close(Pool);
  }

private:
  /// One of the right states as a whole, as far as the image differs from it.
  struct Against {
    const Wanted *Line = nullptr;
    unsigned Byte = 0;
    size_t Lines = 0;

    void look(const char *File, const Wanted &W, uint64_t Mask, const char *Bytes) {
      unsigned Wrong = wrongByte(File + W.Line * LineSize, Mask, Bytes);
      if (Wrong == LineSize)
        return;
      if (!Lines++)
        Line = &W, Byte = Wrong;
    }
  };

  template <class S> static void compare(S &Common, NVM_POOL *Pool) {
    const char *File = static_cast<const char *>(nvm_pool_base(Pool));
    Against Before, After;
    for (size_t N = 0; N < Common.Count; ++N) {
      const Wanted &W = Common.Lines[N];
      Before.look(File, W, W.Before, W.BytesBefore);
      After.look(File, W, W.After, W.BytesAfter);
    }
    if (!Before.Lines || !After.Lines)
      return;
    // It is nearer to one of the two: what keeps it from that one is to blame.
    const Against &Near = Before.Lines <= After.Lines ? Before : After;
    Common.What = Verdict::Torn;
    Common.Place = Near.Line->Line * LineSize + Near.Byte;
    Common.Found = static_cast<unsigned char>(File[Common.Place]);
    Common.Before = static_cast<unsigned char>(Near.Line->BytesBefore[Near.Byte]);
    Common.After = static_cast<unsigned char>(Near.Line->BytesAfter[Near.Byte]);
  }

  Check Checker;
};

Check loadChecker(const std::string &Path) {
  void *Library = Path.empty() ? nullptr : dlopen(Path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  return Library ? reinterpret_cast<Check>(dlsym(Library, "nvm_crash_check")) : nullptr;
}

} // namespace

std::string checkerFault(const std::string &Path) {
  dlerror();
  if (Path.empty() || loadChecker(Path))
    return "";
  const char *Why = dlerror();
  return Path + ": " + (Why ? Why : "no function nvm_crash_check");
}

void Judge::start() {
  int Down[2], Up[2];
  if (pipe(Down) || pipe(Up))
    llvm::report_fatal_error("no pipes for the judge");
  llvm::outs().flush();
  Worker = fork();
  if (Worker == 0) {
    close(Down[1]);
    close(Up[0]);
    setenv("NVMOVE_OPEN", "copy", 1);
    for (const char *Name :
         {"NVMOVE_TRACE", "NVMOVE_METHOD", "NVMOVE_DOMAIN", "NVMOVE_KILL_AT", "NVMOVE_STATS"})
      unsetenv(Name);
    WorkerLoop Loop(loadChecker(Checker));
    for (char Byte; read(Down[0], &Byte, 1) == 1;) {
      Loop.judge(*Common);
      if (write(Up[1], &Byte, 1) != 1)
        break;
    }
    _exit(0);
  }
  close(Down[0]);
  close(Up[1]);
  ToWorker = Down[1];
  FromWorker = Up[0];
}

void Judge::stop() {
  if (Worker < 0)
    return;
  close(ToWorker);
  close(FromWorker);
  kill(Worker, SIGKILL);
  waitpid(Worker, nullptr, 0);
  Worker = -1;
}

Judgement Judge::ask() {
  if (Worker < 0)
    start();
  char Byte = 0;
  pollfd Answer{FromWorker, POLLIN, 0};
  bool Asked = write(ToWorker, &Byte, 1) == 1;
  int Ready = Asked ? poll(&Answer, 1, MillisecondsMax) : 0;
  if (Ready > 0 && read(FromWorker, &Byte, 1) == 1)
    return {Common->What,  Common->Message, Common->Place,
            Common->Found, Common->Before,  Common->After};
  Judgement J;
  J.What = Ready == 0 ? Verdict::Hung : Verdict::Died;
  J.Message = Ready == 0 ? "recovery took more than 5 s" : "recovery ended the process";
  stop();
  return J;
}

Judgement Judge::askCommand(const std::string &Path) {
  std::string Line = Command;
  size_t At = Line.find("{}");
  if (At != std::string::npos)
    Line.replace(At, 2, Path);
  setenv("NVMOVE_OPEN", "copy", 1);
  int Status = std::system(Line.c_str());
  unsetenv("NVMOVE_OPEN");
  if (Status == 0)
    return {};
  return {Verdict::Refused,
          "'" + Line + "' ended with status " + std::to_string(WEXITSTATUS(Status))};
}

Judgement Judge::judge(const std::string &Path) {
  snprintf(Common->Path, sizeof Common->Path, "%s", Path.c_str());
  Judgement J = ask();
  return J.What == Verdict::Right && !Command.empty() ? askCommand(Path) : J;
}

} // namespace nvmove::crash
