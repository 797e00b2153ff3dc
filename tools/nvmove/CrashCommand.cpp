// nvmove crash: one run of a program, and every state that a crash could have left behind.
#include "nvmove/Commands.h"
#include "nvmove/CrashExplore.h"
#include "nvmove/Next.h"

#include "crash/Judge.h"
#include "crash/Report.h"
#include "nvmove/nvmove.h"
#include "support/Failed.h"
#include "support/Files.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Program.h"

#include <set>

namespace nvmove::tool {

using support::failed;

namespace {

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
llvm::Error checkCrashOutput(const Arguments &A) {
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
  return support::refuseInputs({A.Output}, Read, "exploration");
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

std::string nextAfterCrash(const crash::Options &O, const crash::Result &R) {
  if (!R.Findings.empty())
    return "nvmove crash --explain=" + R.Findings.front().Kind +
           " says what this kind of finding means, and what mends it";
  if (R.TimeUp)
    return "the same with --seconds=0 judges every state";
  if (R.Raw || !R.Ended.empty() || O.Only)
    return "";
  return "nvmove pool check FILE looks after the pool in operation: docs/guide/operations.md";
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
  if (llvm::Error E = checkCrashOutput(A)) {
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
  tellNext(A, nextAfterCrash(O, *R));
  bool Judged = !R->Cut && R->Looks && (R->finished() || R->Unclosed || !A.Crash.Strict);
  if (R->hasErrors() || !Judged)
    return ExitIncomplete;
  if (llvm::any_of(Runs, [](const Exploration &Made) { return Made.Run.Status != 0; }))
    return ExitUsage;
  return R->Unclosed ? ExitIncomplete : ExitComplete;
}

} // namespace nvmove::tool
