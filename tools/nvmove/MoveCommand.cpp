// nvmove move: builds, scans, plans, builds, kills, compares. See Move.h.
#include "nvmove/Commands.h"
#include "nvmove/Move.h"
#include "nvmove/Next.h"
#include "nvmove/ShellStep.h"

#include "crash/Findings.h"
#include "crash/Shell.h"
#include "move/Report.h"
#include "port/PortFile.h"
#include "support/Failed.h"
#include "support/Files.h"
#include "support/Progress.h"
#include "support/Trees.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

namespace nvmove::tool {

using support::failed;

namespace {

/// A phase gives a status from ExitUsage on where it has said itself what is wrong.
class Mover {
public:
  explicit Mover(const Arguments &A)
      : A(A), M(A.Move), D(llvm::errs(), support::wantsColor(A.Color, llvm::errs()), A.Quiet),
        Folder(support::absolutePath(A.Output)) {}

  llvm::Expected<int> run() {
    if (llvm::Error E = readInputs())
      return std::move(E);
    passSignals();
    if (llvm::Error E = Folder.open())
      return std::move(E);
    Source = digestOfTree(M.Source) + buildLine() + digestOfTools();
    if (llvm::Error E = buildPlain())
      return std::move(E);
    endBySignals(); // the analysis may take a minute
    if (llvm::Expected<int> Status = scan(); !Status || *Status >= ExitUsage)
      return Status;
    llvm::Expected<int> Planned = plan();
    if (!Planned || *Planned >= ExitUsage || (Fresh && *Planned != ExitComplete))
      return Planned;
    passSignals();
    if (llvm::Error E = buildPorted())
      return std::move(E);
    return kill();
  }

private:
  llvm::Error readInputs();
  std::string buildLine() const;
  llvm::Error build(const char *Name, const std::string &Compiler);
  llvm::Error buildPlain();
  llvm::Error buildPorted();
  llvm::Expected<int> scan();
  llvm::Expected<int> plan();
  llvm::Expected<int> kill();
  Arguments inputs() const;
  void say(const char *Phase, const llvm::Twine &What) const {
    if (!A.Quiet)
      llvm::errs() << "nvmove: " << llvm::left_justify(Phase, 7) << What << '\n';
  }
  std::string shown(const char *Name) const { return support::displayPath(Folder.file(Name)); }

  std::string shellPath(const char *Name) const { return crash::shellWord(shown(Name)); }

  const Arguments &A;
  const MoveArguments &M;
  support::Diagnostics D;
  MoveFolder Folder;
  std::string Source; ///< a digest of it, and how it is built
  bool Fresh = false; ///< the port file was made by this run
  move::Settings Trial;
};

constexpr const char *Port = "port.nvmove.yaml", *Plain = "plain", *Ported = "ported",
                     *Database = "compile_commands.json", *Types = "types.json",
                     *ReportName = "report.json";

llvm::Error Mover::readInputs() {
  if (llvm::Expected<std::string> Compiler = installedTool("nvmove-cc"); !Compiler)
    return Compiler.takeError();
  if (!llvm::sys::fs::is_directory(M.Source))
    return failed(M.Source + ": there is no such folder; -C names that of the source");
  llvm::Expected<std::vector<move::Step>> Workload = move::readSteps(M.Workload);
  if (!Workload)
    return Workload.takeError();
  llvm::Expected<std::vector<move::Step>> Check = move::readSteps(M.Check);
  if (!Check)
    return Check.takeError();
  bool Typed = false;
  for (const auto *All : {&*Workload, &*Check})
    for (const move::Step &Each : *All)
      Typed |= !Each.IsCommand;
  std::string Run = M.Run;
  if (Run.empty() && Typed && M.Build.empty()) // what buildLine() makes
    Run = "./" + llvm::sys::path::stem(A.Files.front()).str();
  if (Run.empty() && Typed)
    return failed("the steps have lines that are typed into a program, and --run does not name it; "
                  "commands of the shell begin with '$ '");
  Trial.Workload = std::move(*Workload);
  Trial.Check = std::move(*Check);
  Trial.WorkloadName = M.Workload, Trial.CheckName = M.Check;
  Trial.Program.Command = Run;
  return llvm::Error::success();
}

std::string Mover::buildLine() const {
  if (!M.Build.empty())
    return M.Build;
  std::string Line = "$CC -g -O2";
  for (const auto *Words : {&A.Files, &A.Flags})
    for (const std::string &Word : *Words)
      Line += " " + crash::shellWord(Word);
  return Line + " -o " + crash::shellWord(llvm::sys::path::stem(A.Files.front()));
}

llvm::Error Mover::build(const char *Name, const std::string &Compiler) {
  say("build", llvm::Twine(Name) + ": " + buildLine());
  if (llvm::Error E = support::copyTree(M.Source, Folder.file(Name), isMoveFolder))
    return E;
  OneWord Word(Compiler);
  ShellStep Build{
      buildLine(), Folder.file(Name), Folder.file(Name) + ".log", {{"CC", Word.text()}}};
  int Status = runStep(Build);
  if (CameSignal)
    return failed("interrupted");
  if (Status)
    return failed("the build '" + buildLine() + "' " + crash::howProcessEnded(Status) + " (" +
                  support::displayPath(Build.Output) + "); its last lines:\n" +
                  lastLines(Build.Output));
  return llvm::Error::success();
}

llvm::Error Mover::buildPlain() {
  if (Folder.isMade(Plain, Source)) {
    say("build", shown(Plain) + " is up to date");
    return llvm::Error::success();
  }
  std::string Fragments = Folder.file("fragments");
  llvm::sys::fs::remove_directories(Fragments);
  llvm::sys::fs::create_directory(Fragments);
  if (llvm::Error E =
          build(Plain, "clang-19 -Wno-unused-command-line-argument -gen-cdb-fragment-path " +
                           crash::shellWord(Fragments)))
    return E;
  llvm::Expected<size_t> Count = joinFragments(Fragments, Folder.file(Database));
  if (!Count)
    return Count.takeError();
  if (!*Count)
    return failed("--build " + buildLine() +
                  ": nothing was compiled by $CC, or nothing anew; does "
                  "it use $CC, and begin with 'make clean'?");
  return Folder.noteMade(Plain, Source);
}

/// What the scan and the plan work on.
Arguments Mover::inputs() const {
  Arguments Own = A;
  Own.Files.clear();
  Own.Flags.clear();
  Own.HasFlags = false;
  Own.DatabasePath = A.DatabasePath.empty() ? Folder.file(Database) : A.DatabasePath;
  Own.Output = Folder.file(Types);
  Own.Format = "json";
  Own.IsPart = true;
  return Own;
}

llvm::Expected<int> Mover::scan() {
  std::string Of = Source + llvm::join(A.Load, ",") + "/" + llvm::join(A.Save, ",");
  if (Folder.isMade(Types, Of)) {
    say("scan", shown(Types) + " is up to date");
    return ExitComplete;
  }
  say("scan", shown(Types));
  int Status = runScan(inputs());
  if (Status < ExitUsage)
    if (llvm::Error E = Folder.noteMade(Types, Of))
      return std::move(E);
  return Status;
}

/// Why no program can be built with it; "": one can.
static std::string whatItLacks(const std::string &PortFile) {
  llvm::Expected<port::PortFile> Read = port::readPortFile(PortFile);
  std::string Why = Read ? "" : llvm::toString(Read.takeError());
  return llvm::StringRef(Why).split('\n').first.str();
}

llvm::Expected<int> Mover::plan() {
  Arguments Own = inputs();
  Own.Output = Folder.file(Port);
  if (!llvm::sys::fs::exists(Own.Output)) {
    say("plan", shown(Port));
    Fresh = true;
    int Status = runPlan(Own);
    if (Status < ExitUsage && !llvm::sys::fs::exists(Own.Output))
      return failed("there is no plan");
    std::string Lacks = Status < ExitUsage ? whatItLacks(Own.Output) : "";
    if (Status == ExitIncomplete || !Lacks.empty()) {
      D.warning("the plan is not complete: edit " + shown(Port) +
                ", and run the same command again, which then uses it as it is" +
                (Lacks.empty() ? "" : "; " + Lacks));
      return ExitIncomplete;
    }
    return Status;
  }
  say("plan", shown(Port) + " is there, and is used as it is; what it lacks:");
  Own.Against = std::move(Own.Output);
  Own.Quiet = false;
  Own.Output.clear();
  return runPlan(Own);
}

llvm::Error Mover::buildPorted() {
  std::string Of = Source + digestOfFile(Folder.file(Port));
  if (Folder.isMade(Ported, Of)) {
    say("build", shown(Ported) + " is up to date");
    return llvm::Error::success();
  }
  llvm::Expected<std::string> Compiler = installedTool("nvmove-cc");
  if (!Compiler)
    return Compiler.takeError();
  if (llvm::Error E = build(Ported, crash::shellWord(*Compiler) +
                                        " -g --nvmove-port=" + crash::shellWord(Folder.file(Port))))
    return E;
  return Folder.noteMade(Ported, Of);
}

llvm::Expected<int> Mover::kill() {
  Trial.Plain = Folder.file(Plain), Trial.Ported = Folder.file(Ported);
  Trial.Program.Folder = Folder.file("run");
  Trial.Program.Errors = Folder.file("run.log");
  Trial.Program.Terminal = M.Terminal;
  Trial.Program.SecondsMax = M.StepSeconds;
  Trial.Program.Interrupted = &CameSignal;
  Trial.Pool = Folder.file("pool");
  Trial.AnyEnd = M.AnyEnd;
  Trial.Kills = M.Kills, Trial.Seed = M.Seed;
  if (!M.Method.empty())
    Trial.Methods = {M.Method};
  say("kill", std::to_string(Trial.Kills) + " times, in " + shown("run"));
  support::Progress Progress(1, !A.Quiet);
  Trial.Tell = [&](const std::string &What) { Progress.show(What, 0, 1); };
  llvm::Expected<move::Verdict> V = move::tryProgram(Trial);
  Progress.finish();
  if (!V)
    return V.takeError();
  if (llvm::Error E = support::writeFile(
          Folder.file(ReportName), [&](llvm::raw_ostream &OS) { move::printVerdictJson(OS, *V); }))
    return std::move(E);
  move::printVerdict(llvm::outs(), *V);
  if (V->isGood()) { // else they may be looked at
    llvm::sys::fs::remove_directories(Trial.Program.Folder);
    llvm::sys::fs::remove(Trial.Pool);
  }
  llvm::outs() << "  port file: " << shown(Port) << "; build: " << shown(Ported)
               << "; details: " << shown(ReportName) << '\n';
  tellNext(A, V->isGood() ? "build it with nvmove-cc --nvmove-trace --nvmove-port=" +
                                shellPath(Port) + ", then nvmove crash -- ./program"
                          : "edit " + shellPath(Port) + ", and run the same command again");
  return V->isGood() ? ExitComplete : ExitIncomplete;
}

} // namespace

int runMove(const Arguments &A) {
  llvm::Expected<int> Status = Mover(A).run();
  if (Status)
    return *Status;
  support::Diagnostics D(llvm::errs(), support::wantsColor(A.Color, llvm::errs()));
  D.error(Status.takeError());
  return CameSignal ? ExitInterrupted : ExitUsage;
}

} // namespace nvmove::tool
