// nvmove crash: one run of a program, and every state that a crash could have left behind.
#include "nvmove/Commands.h"
#include "nvmove/CrashWatch.h"
#include "nvmove/Inputs.h"

#include "crash/Judge.h"
#include "crash/Report.h"
#include "nvmove/nvmove.h"
#include "support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::tool {

namespace {

/// Removes the trace and its image, unless they are to be kept.
struct TraceFiles {
  std::string Path;
  bool Keep = false;
  ~TraceFiles() {
    if (Path.empty() || Keep)
      return;
    llvm::sys::fs::remove(Path);
    llvm::sys::fs::remove(Path + ".image");
    llvm::sys::fs::remove(Path + ".output");
  }
};

llvm::Error failed(const llvm::Twine &What) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), What);
}

/// The checker wants to know what the program had printed.
bool wantsOutput(const CrashArguments &C) {
  return llvm::StringRef(C.Check).contains("{acked}") || crash::checksFiles(C.Check);
}

/// Wherever the program goes. Not support::absolutePath, which takes "link/.." for nothing: this
/// path is opened.
std::string absolute(const std::string &Path) {
  llvm::SmallString<128> Whole(Path);
  llvm::sys::fs::make_absolute(Whole);
  return Whole.str().str();
}

/// What the program printed, and nobody saw.
void showOutput(const std::string &Path) {
  if (auto Printed = llvm::MemoryBuffer::getFile(Path))
    llvm::errs() << (*Printed)->getBuffer();
}

/// \p Output: where stdout goes for the checker; -1: it wants none.
[[noreturn]] void become(const Arguments &A, const std::string &Trace, int Output) {
  setenv("NVMOVE_TRACE", absolute(Trace).c_str(), 1);
  setenv("NVMOVE_TRACE_MAX", std::to_string(A.Crash.TraceMax).c_str(), 1);
  setenv("NVMOVE_DOMAIN", A.Crash.Model == "power" ? "power" : "process", 1);
  if (!A.Crash.File.empty())
    setenv("NVMOVE_TRACE_FILE", absolute(A.Crash.File).c_str(), 1);
  if (A.Quiet) {
    int Null = open("/dev/null", O_WRONLY);
    dup2(Null, STDOUT_FILENO);
    dup2(Null, STDERR_FILENO);
  } else {
    dup2(STDERR_FILENO, STDOUT_FILENO); // stdout is the report's
  }
  if (Output >= 0)
    dup2(Output, STDOUT_FILENO);
  std::vector<char *> Words;
  for (const std::string &Word : A.Flags)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  execvp(Words[0], Words.data());
  _exit(127);
}

/// The trace tells how the program ended, too. Where there is no room for that it is as it was.
void addStatus(const std::string &Trace, int Status) {
  nvm_trace_record Record{0, NVM_TRACE_ENDED, 0, 0, static_cast<uint64_t>(Status)};
  auto TooLarge = std::signal(SIGXFSZ, SIG_IGN);
  int Fd = open(Trace.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  off_t Size = lseek(Fd, 0, SEEK_END);
  if (write(Fd, &Record, sizeof Record) != ssize_t{sizeof Record}) {
    llvm::errs() << "nvmove: warning: " << Trace
                 << ": how the program ended cannot be added: " << std::strerror(errno) << '\n';
    if (Size >= 0 && ftruncate(Fd, Size))
      llvm::errs() << "nvmove: warning: " << Trace << ": " << std::strerror(errno) << '\n';
  }
  close(Fd);
  std::signal(SIGXFSZ, TooLarge);
}

volatile pid_t Running; ///< the program

/// Ctrl-C reaches the program as well; what somebody sends to this process alone is passed on,
/// once.
void passOn(int, siginfo_t *From, void *) {
  if (From->si_code <= 0 && Running) // of kill(), not of the terminal
    kill(std::exchange(Running, 0), SIGINT);
}

/// Runs the program to its end; false: it cannot be started.
bool runProgram(const Arguments &A, const std::string &Trace, int Output, int &Status) {
  sigset_t Interrupt, Mask;
  sigemptyset(&Interrupt);
  sigaddset(&Interrupt, SIGINT);
  sigprocmask(SIG_BLOCK, &Interrupt, &Mask);
  pid_t Child = fork();
  if (Child == 0) {
    sigprocmask(SIG_SETMASK, &Mask, nullptr);
    become(A, Trace, Output);
  }
  Running = std::max<pid_t>(Child, 0);
  struct sigaction Action{}, Before;
  Action.sa_sigaction = passOn;
  Action.sa_flags = SA_RESTART | SA_SIGINFO;
  sigaction(SIGINT, &Action, &Before); // a server is stopped so, and explored then
  sigprocmask(SIG_SETMASK, &Mask, nullptr);
  bool Ended = Child > 0 && waitpid(Child, &Status, 0) == Child;
  Running = 0;
  sigaction(SIGINT, &Before, nullptr);
  return Ended;
}

/// Runs the program; an error when it has left no trace.
llvm::Error run(const Arguments &A, const std::string &Trace, int &Status) {
  int Output = -1;
  if (wantsOutput(A.Crash)) {
    Output = open((Trace + ".output").c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_APPEND | O_CLOEXEC,
                  0666);
    if (Output < 0) // without it each loss of what was acknowledged would pass
      return failed(Trace + ".output: " + std::strerror(errno));
  }
  bool Ran = runProgram(A, Trace, Output, Status);
  if (Output >= 0)
    close(Output);
  if (!Ran)
    return failed("the program cannot be started");
  if (wantsOutput(A.Crash) && !A.Quiet)
    showOutput(Trace + ".output");
  if (WIFEXITED(Status) && WEXITSTATUS(Status) == 127)
    return failed("'" + A.Flags[0] + "' cannot be run; is the path right?");
  uint64_t Size = 0;
  if (llvm::sys::fs::file_size(Trace, Size) || !Size)
    return failed((A.Crash.File.empty()
                       ? llvm::Twine("the program opened no pool, and mapped no file for writing "
                                     "that is traced; ")
                       : "the program opened no pool, and did not map '" + absolute(A.Crash.File) +
                             "' for writing, which --file names; ") +
                  "is it built with nvmove-cc, or with nvmove-cc --nvmove-trace=raw?");
  if (WIFSIGNALED(Status)) // what it did up to there is worth a look
    llvm::errs() << "nvmove: warning: the program was ended by signal " << WTERMSIG(Status)
                 << "; its trace ends there\n";
  else if (WEXITSTATUS(Status))
    llvm::errs() << "nvmove: warning: the program ended with status " << WEXITSTATUS(Status)
                 << '\n';
  addStatus(Trace, Status);
  return llvm::Error::success();
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
  TraceFiles Files; ///< of this run
  crash::Trace T;   ///< findings point into it
  std::string Path;
  int Status = 0; ///< of the program, as wait() gives it
};

llvm::Expected<crash::Result> explore(const Arguments &A, crash::Options &O, Exploration &Made) {
  Made.Path = A.Crash.TraceFile;
  if (Made.Path.empty()) {
    llvm::Expected<std::string> Path = traceToWrite(A);
    if (!Path)
      return Path.takeError();
    Made.Path = *Path;
    Made.Files.Path = A.Crash.Keep.empty() ? *Path : "";
    if (llvm::Error E = run(A, *Path, Made.Status))
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
  return crash::explore(Made.T, O);
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
  Exploration Made;
  llvm::Expected<crash::Result> R = explore(A, O, Made);
  if (!R) {
    D.error(R.takeError());
    return ExitUsage;
  }
  // A finding is worth the place that its trace takes.
  Made.Files.Keep =
      llvm::any_of(R->Findings, [](const crash::Finding &F) { return !F.State.empty(); });
  std::string Replay = replayOf(A.Crash, Made.Path);
  bool Color = A.Output.empty() && support::wantsColor(A.Color, llvm::outs());
  llvm::outs().enable_colors(Color);
  auto Print = [&](llvm::raw_ostream &OS) {
    if (A.Format == "json")
      crash::printJson(OS, O, *R, Replay);
    else if (A.Format == "sarif")
      crash::printSarif(OS, O, *R, Replay);
    else
      crash::printText(OS, Color, O, *R, Replay);
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
  if (Made.Status)
    return ExitUsage;
  return R->Unclosed ? ExitIncomplete : ExitComplete;
}

} // namespace nvmove::tool
