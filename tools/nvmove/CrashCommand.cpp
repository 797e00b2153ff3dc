// nvmove crash: one run of a program, and every state that a crash could have left behind.
#include "nvmove/Commands.h"
#include "nvmove/CrashRun.h"
#include "nvmove/CrashWatch.h"
#include "nvmove/Inputs.h"

#include "crash/Judge.h"
#include "crash/Merge.h"
#include "crash/Report.h"
#include "crash/Temporary.h"
#include "nvmove/nvmove.h"
#include "support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <list>
#include <set>
#include <unistd.h>

namespace nvmove::tool {

namespace {

llvm::Error failed(const llvm::Twine &What) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), What);
}

llvm::Expected<std::string> freshTrace() {
  llvm::SmallString<128> Path;
  int Fd;
  if (std::error_code Error = llvm::sys::fs::createTemporaryFile("nvmove-crash", "trace", Fd, Path))
    return failed("no temporary file: " + Error.message());
  close(Fd);
  return Path.str().str();
}

crash::Options optionsOf(const CrashArguments &C) {
  crash::Options O;
  O.What = C.Model == "process" ? crash::Model::Process
           : C.Model == "disk"  ? crash::Model::Disk
                                : crash::Model::Power;
  O.StatesMax = C.StatesMax;
  O.Each.EpochMax = C.EpochMax;
  O.Each.Samples = C.Samples;
  O.Seed = C.Seed;
  O.PerPoint = C.PerPoint;
  O.InterruptEvery = C.InterruptEvery;
  O.Seconds = C.Seconds;
  O.Jobs = C.Jobs;
  bool IsLibrary = crash::isLibrary(C.Check);
  (IsLibrary ? O.Checker : O.Command) = C.Check;
  if (!C.State.empty())
    O.Only = crash::State::parse(C.State);
  return O;
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
  bool IsTrace = crash::isTrace(Keep);
  if (llvm::sys::fs::is_directory(Keep))
    return failed(Keep + ": it is a folder; name a file");
  if (hasContent(Keep) && !IsTrace)
    return failed(Keep + ": the file is no trace, and is not replaced; name another file");
  if (hasContent(Image) && !IsTrace)
    return failed(Image + ": the image of the pool would be written there, and the file is not "
                          "replaced; name another file");
  bool HasOutput = wantsOutput(A.Crash);
  if (HasOutput && hasContent(Output) && !IsTrace)
    return failed(Output + ": what the program prints would be written there, and the file is not "
                           "replaced; name another file");
  for (const std::string &Path : {Keep, Image, HasOutput ? Output : Keep})
    if (std::error_code Error = llvm::sys::fs::remove(Path))
      return failed(Path + ": " + Error.message());
  return Keep;
}

/// The files that a line for the shell may name.
void addWords(llvm::StringRef Line, std::set<std::string> &Files) {
  constexpr const char *Between = " \t\n;|&<>()'\"`$={}";
  for (size_t From = 0; (From = Line.find_first_not_of(Between, From)) != Line.npos;) {
    size_t To = std::min(Line.find_first_of(Between, From), Line.size());
    Files.insert(Line.slice(From, To).str());
    From = To;
  }
}

/// The report replaces nothing that the answer comes from.
llvm::Error checkOutput(const Arguments &A) {
  const std::string &Trace = A.Crash.TraceFile, &Keep = A.Crash.Keep;
  std::set<std::string> Read{A.Crash.Check};
  addWords(A.Crash.Check, Read);
  if (!Trace.empty())
    Read.insert({Trace, Trace + ".image", Trace + ".output"});
  if (!A.Flags.empty()) {
    auto Program = llvm::sys::findProgramByName(A.Flags[0]); // as execvp does
    Read.insert(Program ? *Program : A.Flags[0]);
  }
  if (!A.Output.empty() && !Keep.empty())
    for (const char *End : {"", ".image", ".output"})
      if (support::absolutePath(A.Output) == support::absolutePath(Keep + End))
        return failed(A.Output + ": the trace goes there (--keep); name another file to write");
  return refuseInputs({A.Output}, Read, "exploration");
}

/// The settings of libnvmove in the environment: which judges, and would refuse each state.
std::string settingFault() {
  constexpr const char *Nowhere = "/dev/null/pool";
  if (nvm_pool_open_foreign(Nowhere) || nvm_errno() != NVM_EARGUMENT)
    return "";
  llvm::StringRef Why = nvm_strerror();
  Why.consume_front(Nowhere);
  return Why.ltrim(": ").str();
}

struct Exploration {
  crash::TemporaryTrace Files; ///< of this run
  crash::Trace T;              ///< findings point into it
  std::string Path;
  int Status = 0;     ///< of the program, as wait() gives it
  bool GoesOn = true; ///< nobody has ended the exploration
};

llvm::Expected<crash::Result> explore(const Arguments &A, crash::Options &O, Exploration &Made) {
  Made.Path = A.Crash.TraceFile;
  if (Made.Path.empty()) {
    llvm::Expected<std::string> Path = traceToWrite(A);
    if (!Path)
      return Path.takeError();
    Made.Path = *Path;
    if (A.Crash.Keep.empty())
      Made.Files.set(*Path);
    if (llvm::Error E = runTraced(A, *Path, Made.Status))
      return std::move(E);
  }
  CrashWatch Looking(A.Quiet, A.Crash.FailFast);
  llvm::Expected<crash::Trace> T = crash::readTrace(Made.Path);
  if (!T)
    return T.takeError();
  Made.T = std::move(*T);
  if (A.Crash.TraceFile.empty()) {
    Made.T.Status = Made.Status;
    if (!wantsOutput(A.Crash))
      Made.T.Output = nullptr; // a file of that name is somebody else's
  }
  if (llvm::Error E = refuseInputs({A.Output}, {Made.Path, Made.T.PoolPath}, "exploration"))
    return std::move(E);
  O.Watching = &Looking;
  llvm::Expected<crash::Result> R = crash::explore(Made.T, O);
  Made.GoesOn = Looking.goesOn(0, 0);
  return R;
}

std::string quoted(llvm::StringRef Word) {
  constexpr const char *Plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-=";
  if (!Word.empty() && Word.find_first_not_of(Plain) == llvm::StringRef::npos)
    return Word.str();
  std::string Made = "'";
  for (char C : Word)
    Made += C == '\'' ? std::string("'\\''") : std::string(1, C);
  return Made + "'";
}

/// The command that shows a state again, but for the name of the state.
std::string replayOf(const CrashArguments &C, const std::string &Trace) {
  std::string Line = "nvmove crash --trace " + quoted(Trace);
  if (C.Model != "power")
    Line += " --model=" + C.Model;
  if (!C.Check.empty())
    Line += " --check " + quoted(C.Check);
  if (C.EpochMax != CrashArguments().EpochMax)
    Line += " --epoch-states=" + std::to_string(C.EpochMax);
  return Line;
}

/// One run with its findings, of which each can be shown again. A finding is worth the place that its
/// trace takes.
llvm::Expected<crash::Result> exploreOne(const Arguments &A, crash::Options &O, Exploration &Made) {
  llvm::Expected<crash::Result> R = explore(A, O, Made);
  if (!R)
    return R;
  for (crash::Finding &F : R->Findings)
    if (!F.State.empty()) {
      Made.Files.keep();
      F.Replay = replayOf(A.Crash, Made.Path) + " --state " + F.State;
    }
  return R;
}

llvm::Expected<crash::Result> exploreEach(const Arguments &A, crash::Options &O,
                                          std::list<Exploration> &Runs) {
  if (A.Crash.Method != "both")
    return exploreOne(A, O, Runs.emplace_back());
  Arguments One = A;
  One.Crash.Method = "undo";
  O.Seconds /= 2; // for each
  off_t Input = lseek(STDIN_FILENO, 0, SEEK_CUR);
  llvm::Expected<crash::Result> R = exploreOne(One, O, Runs.emplace_back());
  if (!R)
    return R;
  if (R->Raw || !Runs.back().GoesOn) {
    R->NotDone.push_back(R->Raw ? "--method=both: the program does not use libnvmove's methods"
                                : "the program was not run with shadow");
    R->Cut |= !R->Raw;
    return R;
  }
  if (llvm::Error E = putBack(Runs.back().T))
    return std::move(E);
  if (Input >= 0)
    lseek(STDIN_FILENO, Input, SEEK_SET);
  One.Crash.Method = "shadow";
  if (!A.Crash.Keep.empty())
    One.Crash.Keep += ".shadow";
  llvm::Expected<crash::Result> Second = exploreOne(One, O, Runs.emplace_back());
  if (!Second)
    return Second;
  crash::merge(*R, std::move(*Second));
  return R;
}

} // namespace

int runCrash(const Arguments &A) {
  if (!A.Crash.Explain.empty())
    return explainKind(A);
  support::Diagnostics D(llvm::errs(), support::wantsColor(A.Color, llvm::errs()));
  crash::Options O = optionsOf(A.Crash);
  std::string Fault = settingFault();
  if (Fault.empty())
    Fault = crash::checkerFault(O.Checker);
  if (!Fault.empty()) {
    D.error(Fault);
    return ExitUsage;
  }
  if (llvm::Error E = checkOutput(A)) {
    D.error(std::move(E));
    return ExitUsage;
  }
  std::list<Exploration> Runs;
  llvm::Expected<crash::Result> R = exploreEach(A, O, Runs);
  if (!R) {
    D.error(R.takeError());
    return ExitUsage;
  }
  bool Color = A.Output.empty() && support::wantsColor(A.Color, llvm::outs());
  llvm::outs().enable_colors(Color);
  auto Print = [&](llvm::raw_ostream &OS) {
    if (A.Format == "json")
      crash::printJson(OS, O, *R);
    else if (A.Format == "sarif")
      crash::printSarif(OS, O, *R);
    else
      crash::printText(OS, Color, O, *R);
  };
  if (A.Output.empty())
    Print(llvm::outs());
  else if (llvm::Error E = support::writeFile(A.Output, Print)) {
    D.error(std::move(E));
    return ExitUsage;
  }
  bool Judged = !R->Cut && R->Looks && (R->finished() || R->Unclosed || !A.Crash.Strict);
  if (R->hasErrors() || !Judged)
    return ExitIncomplete;
  if (llvm::any_of(Runs, [](const Exploration &Made) { return Made.Status != 0; }))
    return ExitUsage;
  return R->Unclosed ? ExitIncomplete : ExitComplete;
}

} // namespace nvmove::tool
