// Runs of a program and what their traces show: see CrashExplore.h.
#include "nvmove/CrashExplore.h"

#include "nvmove/CrashAside.h"
#include "nvmove/CrashRun.h"
#include "nvmove/CrashWatch.h"

#include "crash/Merge.h"
#include "crash/Shell.h"
#include "support/Failed.h"
#include "support/Files.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

namespace nvmove::tool {

using support::failed;
namespace {

llvm::Expected<std::string> freshTrace() {
  llvm::SmallString<128> Path;
  int Fd;
  if (std::error_code Error = llvm::sys::fs::createTemporaryFile("nvmove-crash", "trace", Fd, Path))
    return failed("no temporary file: " + Error.message());
  close(Fd);
  return Path.str().str();
}

bool hasContent(const std::string &Path) {
  uint64_t Size = 0;
  return llvm::sys::fs::exists(Path) && (llvm::sys::fs::file_size(Path, Size) || Size);
}

/// A trace begins in a file that is not there, or empty. A trace of before goes, nothing else.
llvm::Expected<std::string> traceToWrite(const Arguments &A) {
  const std::string &Keep = A.Crash.Keep, Image = Keep + ".image", Output = Keep + ".output";
  if (Keep.empty())
    return freshTrace();
  llvm::StringRef Folder = llvm::sys::path::parent_path(Keep);
  if (!Folder.empty() && llvm::sys::fs::access(Folder, llvm::sys::fs::AccessMode::Write))
    return failed(Folder + ": no such folder, or it may not be written; --keep " + Keep +
                  " goes there");
  bool IsTrace = crash::isTrace(Keep);
  if (llvm::sys::fs::is_directory(Keep))
    return failed(Keep + ": it is a folder; name a file");
  if (hasContent(Keep) && !IsTrace)
    return failed(Keep + ": the file is no trace, and is not replaced; name another file");
  if (hasContent(Image) && !IsTrace)
    return failed(Image + ": the image of the pool would be written there, and the file is not "
                          "replaced; name another file");
  for (const char *Method : {".undo", ".shadow"}) // of a second run of before
    if (crash::isTrace(Keep + Method))
      for (const char *End : {"", ".image", ".output"})
        llvm::sys::fs::remove(Keep + Method + End);
  bool HasOutput = wantsOutput(A.Crash);
  if (HasOutput && hasContent(Output) && !IsTrace)
    return failed(Output + ": what the program prints would be written there, and the file is not "
                           "replaced; name another file");
  for (const std::string &Path : {Keep, Image, HasOutput ? Output : Keep})
    if (std::error_code Error = llvm::sys::fs::remove(Path))
      return failed(Path + ": " + Error.message());
  return Keep;
}

/// The trace of a run of the program, or the one that is named.
llvm::Error getTrace(const Arguments &A, Exploration &Made) {
  Made.Path = A.Crash.TraceFile;
  if (Made.Path.empty()) {
    llvm::Expected<std::string> Path = traceToWrite(A);
    if (!Path)
      return Path.takeError();
    Made.Path = *Path;
    if (A.Crash.Keep.empty())
      Made.Files.set(*Path);
    if (llvm::Error E = runTraced(A, *Path, Made.Run))
      return E;
  }
  llvm::Expected<crash::Trace> T = crash::readTrace(Made.Path);
  if (!T)
    return T.takeError();
  Made.T = std::move(*T);
  if (A.Crash.TraceFile.empty()) {
    Made.T.Status = Made.Run.Status;
    if (!wantsOutput(A.Crash))
      Made.T.Output = nullptr; // a file of that name is somebody else's
  }
  return support::refuseInputs({A.Output}, {Made.Path, Made.T.PoolPath}, "exploration");
}

/// The command that shows a state again, but for the name of the state.
std::string replayOf(const CrashArguments &C, const std::string &Trace) {
  std::string Line = "nvmove crash --trace " + crash::shellWord(Trace);
  if (C.Model != "power")
    Line += " --model=" + C.Model;
  if (!C.Check.empty())
    Line += " --check " + crash::shellWord(C.Check);
  if (C.EpochMax != CrashArguments().EpochMax)
    Line += " --epoch-states=" + std::to_string(C.EpochMax);
  return Line;
}

/// Each finding can be shown again, and is worth the place that its trace takes.
llvm::Expected<crash::Result> judge(const Arguments &A, const crash::Options &O,
                                    Exploration &Made) {
  llvm::Expected<crash::Result> R = crash::explore(Made.T, O);
  if (!R)
    return R;
  for (crash::Finding &F : R->Findings)
    if (!F.State.empty()) {
      Made.Files.keep();
      F.Replay = replayOf(A.Crash, Made.Path) + " --state " + F.State;
    }
  return R;
}

bool isMethodSet() {
  const char *Method = std::getenv("NVMOVE_METHOD");
  return Method && *Method; // an empty one is none
}

bool isPipe(int Fd) {
  struct stat Status;
  return fstat(Fd, &Status) == 0 && (S_ISFIFO(Status.st_mode) || S_ISSOCK(Status.st_mode));
}

/// Why the program is not run a second time, where nobody has asked for that; empty: it is.
std::string whyOnce(const Exploration &First) {
  if (First.Run.Status || First.Run.Interrupted)
    return First.Run.Interrupted ? "Ctrl-C ended the program" : "the program failed";
  if (First.Run.HasSockets || First.T.HasSockets)
    return "the program has sockets, and does what others ask it for";
  if (isPipe(STDIN_FILENO))
    return "standard input is a pipe, whose bytes come once";
  return "";
}

/// How long a second run may take: it may wait for somebody who was there once.
double patienceAfter(const TracedRun &First) { return 5 + 4 * First.Seconds; }

/// The method that a run did not have.
const char *otherThan(const crash::Trace &T) { return T.Apart ? "undo" : "shadow"; }

/// A run while the pool of the first one is aside. \p Left: the pool could not be put back.
llvm::Error getTraceAside(const Arguments &A, const crash::Trace &First, Exploration &Made,
                          bool &Left) {
  PoolAside Ours;
  if (llvm::Error E = Ours.take(First))
    return E;
  llvm::Error E = getTrace(A, Made);
  llvm::Error Why = Ours.putBack();
  Left = static_cast<bool>(Why);
  if (Left)
    llvm::errs() << "nvmove: error: " << llvm::toString(std::move(Why)) << '\n';
  return E;
}

/// What was left out of which run.
void nameMethods(crash::Result &R) {
  for (std::string &Text : R.NotDone)
    Text = "with " + R.Method + ": " + Text;
}

/// What the two runs did, if it was not the same.
std::string differenceOf(const crash::Result &A, const crash::Result &B) {
  if (A.Commits == B.Commits && A.Stores == B.Stores)
    return "";
  return llvm::formatv(
             "the second run did something else than the first: {0} commits and {1} stores, "
             "the first {2} and {3}",
             B.Commits, B.Stores, A.Commits, A.Stores)
      .str();
}

/// The second run, with the other method; its pool goes, that of the first run is there again. What
/// was found in the first stays, whatever comes.
void exploreSecond(const Arguments &A, const crash::Options &O, off_t Input,
                   std::list<Exploration> &Runs, crash::Result &R) {
  const std::string Method = otherThan(Runs.front().T);
  Arguments Again = A;
  Again.Crash.Method = Method;
  if (!A.Crash.Keep.empty())
    Again.Crash.Keep += "." + Method;
  Exploration &First = Runs.front(), &Made = Runs.emplace_back();
  if (A.Crash.Method.empty())
    Made.Run.SecondsMax = patienceAfter(First.Run);
  if (Input >= 0)
    lseek(STDIN_FILENO, Input, SEEK_SET);
  bool Left = false;
  llvm::Error E = getTraceAside(Again, First.T, Made, Left);
  if (Left) {
    R.NotDone.push_back("the pool of the first run could not be renamed back");
    R.Cut = true;
  }
  if (!E) {
    llvm::Expected<crash::Result> Second = judge(Again, O, Made);
    if (Second) {
      if (std::string Differs = differenceOf(R, *Second); !Differs.empty())
        R.NotDone.push_back(Differs + "; --method=" + Method + " runs the program with " + Method);
      if (R.TimeUp || Second->TimeUp)
        nameMethods(R), nameMethods(*Second);
      crash::merge(R, std::move(*Second));
    }
    E = Second.takeError();
  }
  std::string Why = llvm::toString(std::move(E));
  if (Made.Run.Hung)
    Why = "it took more than " + std::to_string(unsigned(Made.Run.SecondsMax)) + " s";
  else if (Made.Run.Status && !First.Run.Status)
    Why = "it failed";
  if (Why.empty())
    return;
  R.NotDone.push_back("the second run of the program, with " + Method + ": " + Why +
                      "; --method=auto runs it once");
  R.Cut = true;
}

} // namespace

llvm::Expected<crash::Result> exploreEach(const Arguments &A, crash::Options O,
                                          std::list<Exploration> &Runs) {
  CrashWatch Looking(A.Quiet, A.Crash.FailFast);
  O.Watching = &Looking;
  bool IsAsked = A.Crash.Method == "both";
  bool IsOnce = !A.Crash.TraceFile.empty() || (!IsAsked && !A.Crash.Method.empty()) ||
                (!IsAsked && isMethodSet());
  Exploration &First = Runs.emplace_back();
  off_t Input = lseek(STDIN_FILENO, 0, SEEK_CUR);
  Arguments One = A;
  if (IsAsked || A.Crash.Method == "auto")
    One.Crash.Method = "";
  if (llvm::Error E = getTrace(One, First))
    return std::move(E);
  if (IsOnce)
    return judge(One, O, First);
  std::string Why = First.T.Raw ? "the program does not use libnvmove's methods"
                    : IsAsked   ? ""
                                : whyOnce(First);
  double All = O.Seconds;
  O.Seconds = Why.empty() ? All / 2 : All;
  llvm::Expected<crash::Result> R = judge(One, O, First);
  if (!R || (First.T.Raw && !IsAsked))
    return R;
  bool GoesOn = Looking.goesOn(0, 0);
  if (Why.empty() && GoesOn) {
    O.Seconds = All ? std::max(All - R->Seconds, All / 2) : 0;
    Looking.clearLine();
    exploreSecond(A, O, Input, Runs, *R);
    return R;
  }
  R->Cut |= !GoesOn;
  R->NotDone.push_back(std::string("a second run, with ") + otherThan(First.T) + ": " +
                       (Why.empty() ? "the exploration was ended" : Why) +
                       (IsAsked || Why.empty() ? "" : "; --method=both makes it"));
  return R;
}

} // namespace nvmove::tool
