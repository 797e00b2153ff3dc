// nvmove crash: one run of a program, and every state that a crash could have left behind.
#include "nvmove/Commands.h"

#include "crash/Judge.h"
#include "crash/Report.h"
#include "support/Files.h"

#include "llvm/Support/FileSystem.h"

#include <cstring>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nvmove::tool {

namespace {

/// Removes the trace and its image.
struct TraceFiles {
  std::string Path;
  ~TraceFiles() {
    if (Path.empty())
      return;
    llvm::sys::fs::remove(Path);
    llvm::sys::fs::remove(Path + ".image");
  }
};

llvm::Error failed(const llvm::Twine &What) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), What);
}

[[noreturn]] void become(const Arguments &A, const std::string &Trace) {
  setenv("NVMOVE_TRACE", Trace.c_str(), 1);
  setenv("NVMOVE_DOMAIN", A.Crash.Model.c_str(), 1);
  if (A.Quiet) {
    int Null = open("/dev/null", O_WRONLY);
    dup2(Null, STDOUT_FILENO);
    dup2(Null, STDERR_FILENO);
  } else {
    dup2(STDERR_FILENO, STDOUT_FILENO); // stdout is the report's
  }
  std::vector<char *> Words;
  for (const std::string &Word : A.Flags)
    Words.push_back(const_cast<char *>(Word.c_str()));
  Words.push_back(nullptr);
  execvp(Words[0], Words.data());
  _exit(127);
}

/// Runs the program; an error when it has left no trace.
llvm::Error run(const Arguments &A, const std::string &Trace) {
  pid_t Child = fork();
  if (Child == 0)
    become(A, Trace);
  int Status = 0;
  if (Child < 0 || waitpid(Child, &Status, 0) != Child)
    return failed("the program cannot be started");
  if (WIFEXITED(Status) && WEXITSTATUS(Status) == 127)
    return failed("'" + A.Flags[0] + "' cannot be run; is the path right?");
  if (!llvm::sys::fs::exists(Trace + ".image"))
    return failed("the program opened no pool; is it built with nvmove-cc?");
  if (WIFSIGNALED(Status)) // what it did up to its last commit is worth a look
    llvm::errs() << "nvmove: warning: the program was ended by signal " << WTERMSIG(Status)
                 << "; its trace ends there\n";
  else if (WEXITSTATUS(Status))
    llvm::errs() << "nvmove: warning: the program ended with status " << WEXITSTATUS(Status)
                 << '\n';
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
  O.What = C.Model == "process" ? crash::Model::Process : crash::Model::Power;
  O.StatesMax = C.StatesMax;
  O.EpochMax = C.EpochMax;
  O.Samples = C.Samples;
  O.Seed = C.Seed;
  O.InterruptEvery = C.InterruptEvery;
  bool IsLibrary = llvm::StringRef(C.Check).ends_with(".so");
  (IsLibrary ? O.Checker : O.Command) = C.Check;
  return O;
}

llvm::Expected<crash::Result> explore(const Arguments &A, const crash::Options &O,
                                      crash::Trace &Kept) {
  TraceFiles Own;
  std::string Path = A.Crash.TraceFile;
  if (Path.empty()) {
    llvm::Expected<std::string> Made = A.Crash.Keep.empty() ? freshTrace() : A.Crash.Keep;
    if (!Made)
      return Made.takeError();
    Path = *Made;
    Own.Path = A.Crash.Keep.empty() ? Path : "";
    if (llvm::Error E = run(A, Path))
      return std::move(E);
  }
  llvm::Expected<crash::Trace> T = crash::readTrace(Path);
  if (!T)
    return T.takeError();
  Kept = std::move(*T); // findings point into it
  return crash::explore(Kept, O);
}

} // namespace

int runCrash(const Arguments &A) {
  support::Diagnostics D(llvm::errs(), support::wantsColor(A.Color, llvm::errs()));
  crash::Options O = optionsOf(A.Crash);
  if (std::string Fault = crash::checkerFault(O.Checker); !Fault.empty()) {
    D.error(Fault);
    return ExitUsage;
  }
  crash::Trace T;
  llvm::Expected<crash::Result> R = explore(A, O, T);
  if (!R) {
    D.error(R.takeError());
    return ExitUsage;
  }
  bool Color = A.Output.empty() && support::wantsColor(A.Color, llvm::outs());
  llvm::outs().enable_colors(Color);
  auto Print = [&](llvm::raw_ostream &OS) {
    if (A.Format == "json")
      crash::printJson(OS, O, *R);
    else
      crash::printText(OS, Color, O, *R);
  };
  if (A.Output.empty())
    Print(llvm::outs());
  else if (llvm::Error E = support::writeFile(A.Output, Print)) {
    D.error(std::move(E));
    return ExitUsage;
  }
  bool Judged = R->finished() || (A.Crash.AllowSampling && !R->Unexplored && !R->Cut);
  return R->Findings.empty() && Judged ? ExitComplete : ExitIncomplete;
}

} // namespace nvmove::tool
