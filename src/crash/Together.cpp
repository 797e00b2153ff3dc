// Processes that explore together: see Together.h.
#include "crash/Together.h"

#include "crash/Findings.h"
#include "crash/Helper.h"
#include "crash/Wire.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::crash {
namespace {

constexpr int Slice = 50; ///< milliseconds after which somebody may have stopped it

/// What a process sends: this, then so many bytes.
struct Head {
  enum Kind : uint32_t { Found, Done, Failed } What;
  uint64_t Size;
};

bool writeAll(int Fd, const void *Bytes, size_t Size) {
  for (const char *At = static_cast<const char *>(Bytes); Size;) {
    ssize_t Length = write(Fd, At, Size);
    if (Length < 0 && errno == EINTR)
      continue;
    if (Length <= 0)
      return false;
    At += Length;
    Size -= static_cast<size_t>(Length);
  }
  return true;
}

void send(int Fd, Head::Kind What, const std::string &Bytes) {
  Head H{What, Bytes.size()};
  if (!writeAll(Fd, &H, sizeof H) || !writeAll(Fd, Bytes.data(), Bytes.size()))
    _exit(1); // nobody hears it
}

/// In a process: what it finds goes to the one that looks on.
class Teller : public Watch {
public:
  explicit Teller(int Fd) : Fd(Fd) {}
  void found(const Finding &F) override { send(Fd, Head::Found, packed(F)); }

private:
  int Fd;
};

void end(int) {
  killHelpers();
  _exit(1);
}

/// Ctrl-C on a terminal does not reach it. It ends when its parent does, and what it started with it.
void becomeShare(pid_t Parent) {
  setpgid(0, 0);
  struct sigaction Action{};
  Action.sa_handler = end;
  sigaction(SIGTERM, &Action, nullptr);
  for (int Signal : {SIGINT, SIGHUP})
    signal(Signal, SIG_DFL);
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != Parent)
    _exit(1);
}

class Together {
public:
  Together(const Options &O, unsigned Count) : O(O) {
    Map = mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (Map == MAP_FAILED)
      llvm::report_fatal_error("out of memory to explore");
    B = new (Map) Board;
    All.resize(Count);
  }
  ~Together() { munmap(Map, sizeof(Board)); }
  Together(const Together &) = delete;
  Together &operator=(const Together &) = delete;

  llvm::Expected<Result> run(ExploreShare Each) {
    llvm::outs().flush();
    for (unsigned Index = 0; Index < All.size(); ++Index)
      start(Index, Each);
    while (llvm::any_of(All, [](const One &P) { return P.From >= 0; })) {
      if (O.Watching && !O.Watching->goesOn(B->Event, B->States))
        B->Stop = true;
      listen();
    }
    return together();
  }

private:
  struct One {
    pid_t Child = -1;
    int From = -1;
    std::string Bytes; ///< that are no whole message yet
    std::vector<Finding> Told;
    std::optional<Result> Whole;
    std::optional<std::string> Error;
    int Status = 0;
  };

  void start(unsigned Index, ExploreShare Each) {
    int Ends[2];
    if (pipe2(Ends, O_CLOEXEC))
      llvm::report_fatal_error("no pipe to a process that explores");
    fcntl(Ends[0], F_SETFL, O_NONBLOCK);
    pid_t Parent = getpid();
    One &P = All[Index];
    P.Child = fork();
    if (P.Child == 0) {
      becomeShare(Parent);
      for (const One &Other : All)
        if (Other.From >= 0)
          close(Other.From);
      close(Ends[0]);
      runShare(Index, Ends[1], Each);
    }
    close(Ends[1]);
    P.From = Ends[0];
    if (P.Child < 0)
      finish(P);
  }

  [[noreturn]] void runShare(unsigned Index, int Into, ExploreShare Each) {
    Strays Left;
    Teller Tells(Into);
    Options Mine = O;
    Mine.Watching = &Tells;
    {
      Share S(Mine, *B, Index, static_cast<unsigned>(All.size()));
      if (llvm::Expected<Result> R = Each(Mine, S))
        send(Into, Head::Done, packed(*R));
      else
        send(Into, Head::Failed, llvm::toString(R.takeError()));
    }
    _exit(0);
  }

  void listen() {
    std::vector<pollfd> Files;
    for (const One &P : All)
      Files.push_back({P.From, POLLIN, 0}); // a negative one is left out
    poll(Files.data(), Files.size(), Slice);
    for (One &P : All) {
      if (P.From < 0)
        continue;
      bool Ended = hasEnded(P.Child); // before it is heard: then nothing more comes
      while (hear(P))
        continue;
      if (Ended)
        finish(P);
    }
  }

  /// False: there is nothing now. The end of the pipe says nothing: what the checker has started
  /// may hold it open.
  bool hear(One &P) {
    char Read[1 << 16];
    ssize_t Length = read(P.From, Read, sizeof Read);
    if (Length <= 0)
      return Length < 0 && errno == EINTR;
    P.Bytes.append(Read, static_cast<size_t>(Length));
    Head H;
    while (P.Bytes.size() >= sizeof H) {
      std::memcpy(&H, P.Bytes.data(), sizeof H);
      if (P.Bytes.size() - sizeof H < H.Size)
        return true;
      take(P, H.What, llvm::StringRef(P.Bytes).substr(sizeof H, H.Size));
      P.Bytes.erase(0, sizeof H + H.Size);
    }
    return true;
  }

  void take(One &P, Head::Kind What, llvm::StringRef Bytes) {
    if (What == Head::Failed) {
      P.Error = Bytes.str();
      B->Stop = true;
    } else if (What == Head::Done) {
      P.Whole = unpackedResult(Bytes);
    } else if (std::optional<Finding> F = unpackedFinding(Bytes)) {
      P.Told.push_back(*F);
      const Finding *Fresh = addFinding(Known, std::move(*F));
      if (Fresh && O.Watching)
        O.Watching->found(*Fresh);
    }
  }

  void finish(One &P) {
    close(std::exchange(P.From, -1));
    while (P.Child > 0 && waitpid(P.Child, &P.Status, 0) < 0 && errno == EINTR)
      continue;
  }

  llvm::Expected<Result> together() {
    Result R;
    std::vector<Finding> Found;
    R.Looks = UINT32_MAX;
    for (One &P : All) {
      if (P.Error)
        return llvm::createStringError(llvm::inconvertibleErrorCode(), *P.Error);
      if (P.Whole) {
        add(R, *P.Whole);
        llvm::append_range(Found, std::move(P.Whole->Findings));
        continue;
      }
      R.Cut = true;
      R.Looks = 0;
      R.NotDone.push_back("a process that explored " + howProcessEnded(P.Status) +
                          ": what it had not judged by then");
      llvm::append_range(Found, std::move(P.Told));
    }
    llvm::sort(Found, [](const Finding &A, const Finding &B) { return A.Number < B.Number; });
    for (Finding &F : Found)
      addFinding(R, std::move(F));
    return R;
  }

  /// Each has gone the same way: what all count is the same, if none was stopped.
  static void add(Result &R, const Result &Of) {
    for (auto Field : {&Result::States, &Result::Refused, &Result::Lost, &Result::Omitted})
      R.*Field += Of.*Field;
    R.Recoveries.All += Of.Recoveries.All;
    R.Recoveries.Moves += Of.Recoveries.Moves;
    R.Recoveries.Stayed += Of.Recoveries.Stayed;
    for (auto Field : {&Result::Distinct, &Result::Epochs, &Result::Sampled, &Result::Skipped,
                       &Result::FailurePoints, &Result::Unexplored, &Result::Possible})
      R.*Field = std::max(R.*Field, Of.*Field);
    R.StoppedAt = std::min(R.StoppedAt, Of.StoppedAt);
    R.Looks = std::min(R.Looks, Of.Looks);
    R.Hangs = std::max(R.Hangs, Of.Hangs);
    R.TimeUp |= Of.TimeUp;
    R.CommandFails |= Of.CommandFails;
    for (const std::string &Text : Of.NotDone)
      if (!llvm::is_contained(R.NotDone, Text))
        R.NotDone.push_back(Text);
  }

  const Options &O;
  void *Map;
  Board *B;
  std::vector<One> All;
  Result Known; ///< what was told
};

} // namespace

llvm::Expected<Result> exploreTogether(const Options &O, ExploreShare Each) {
  unsigned Count = jobsOf(O);
  if (Count > 1)
    return Together(O, Count).run(Each);
  Strays Left;
  Board B;
  Share S(O, B, 0, 1);
  return Each(O, S);
}

} // namespace nvmove::crash
