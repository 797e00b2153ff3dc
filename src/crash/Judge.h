// Opens a state as the program would after the crash, and says what came of it.
//
// A process of its own does it, so that a runtime that crashes or hangs is a verdict and not the
// end: it maps the image privately (NVMOVE_OPEN=copy), recovers, checks the heap, compares the
// program's data with the right states (Transactions.h), and asks the user's checker. It takes one
// state after the other; the image is never copied.
#pragma once

#include "crash/Expected.h"
#include "crash/Media.h"
#include "crash/Shell.h"

namespace nvmove::crash {

enum class Verdict {
  Right,
  NotRecovered, ///< the runtime refused to open it
  Died,         ///< the runtime crashed
  Hung,
  Damaged,     ///< recovered, but the pool's own structures are wrong
  Torn,        ///< the program's data is none of the right states
  Refused,     ///< the user's checker said no
  CheckerDied, ///< the user's checker crashed
  CheckerHung, ///< it took longer than anybody waits
};

struct Judgement {
  Verdict What = Verdict::Right;
  std::string Message;
  uint64_t Place = 0; ///< Torn: a byte of the file that is wrong
  unsigned char Found = 0, Before = 0, After = 0;
  size_t Newest = SIZE_MAX; ///< number of the newest committing transaction that is in the state
  std::string Said = {};    ///< empty, or ": " and what the checker printed first
};

/// Each look would take as long again.
inline bool isSlow(Verdict What) { return What == Verdict::Hung || What == Verdict::CheckerHung; }
/// So many, then no further states are judged.
constexpr unsigned HangsMax = 3;

/// Of a command that judged a state. \p HasRun: it did so before; what cannot be found from the
/// beginning is no verdict, but \p Fails.
Judgement verdictOf(const CommandEnd &End, const std::string &Command, bool &HasRun, bool &Fails);

/// Whether --check names a shared object, and not a command.
bool isLibrary(const std::string &Check);
/// Empty, or why this shared object is no checker.
std::string checkerFault(const std::string &Path);
/// Whether it is one of files (FileJudge.h).
bool checksFiles(const std::string &Path);

class Judge {
public:
  /// \p Checker: a shared object with `int nvm_crash_check(NVM_POOL *)`, or empty. \p Command: run
  /// by a shell for each state that is right so far, with {} for the path; or empty.
  /// \p Base: the address at which the program had the pool when it began.
  Judge(const Media &M, uint64_t Base, std::string Checker, std::string Command);
  ~Judge();

  /// The right states of those that follow are those of \p H. False: they are too many, some bytes
  /// are left out.
  bool expect(History &H);
  /// The pool is not whole yet: to refuse it is right.
  void mayRefuse(bool May) { MayRefuse = May; }
  bool mayRefuse() const { return MayRefuse; }

  /// The user's command could not be run: no verdict that it gave counts.
  bool commandFails() const { return CommandFails; }

  /// The image as it lies in the memory file, or in another file.
  Judgement judge() { return judge(M.path()); }
  Judgement judge(const std::string &Path);

private:
  struct Shared;
  void start();
  void stop();
  Judgement ask();
  Judgement askCommand(const std::string &Path);
  bool refresh(const History &H, uint64_t Line);
  bool take(const std::vector<Group> &Groups);

  const Media &M;
  std::string Checker, Command;
  bool MayRefuse = false, CommandFails = false, HasRun = false;
  Shared *Common = nullptr;
  llvm::DenseMap<uint64_t, size_t> Slots; ///< line -> its place in the list
  std::map<uint64_t, uint64_t> Touched;   ///< line -> bytes that groups look after
  Printed Said;                           ///< by the worker
  std::optional<HelperGroup> Ours;
  int Worker = -1, ToWorker = -1, FromWorker = -1;
  int Ended = -1; ///< readable when the worker has ended
};

} // namespace nvmove::crash
