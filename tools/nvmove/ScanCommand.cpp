// nvmove scan: gather facts, solve, print.
#include "nvmove/Commands.h"
#include "nvmove/Inputs.h"
#include "nvmove/Next.h"

#include "observe/Observation.h"
#include "plan/Compared.h"
#include "report/Report.h"
#include "solve/answer/Solve.h"
#include "support/Files.h"
#include "support/Process.h"

#include <chrono>
#include <optional>

namespace nvmove::tool {

namespace {

solve::Options solverOptions(const Arguments &A) {
  solve::Options O;
  O.Load = A.Load;
  O.Save = A.Save;
  O.WhyNot = A.WhyNot;
  if (A.StepsMax)
    O.StepsMax = A.StepsMax;
  O.Which = A.Algorithm == "nvmove" ? solve::Algorithm::Nvmove : solve::Algorithm::LeftBehind;
  llvm::StringRef On(A.NvmoveOptimisations);
  if (On == "none")
    On = "";
  O.SkipPointerless = On.contains('a');
  O.LibraryAssigns = On.contains('b');
  O.SkipLibc = On.contains('c');
  O.VisitOnce = On.contains('d');
  return O;
}

/// The solver may recurse over the program's structure.
llvm::Expected<ScanResult> solveDeep(std::vector<facts::TranslationUnit> Units,
                                     const solve::Options &O) {
  std::optional<llvm::Expected<ScanResult>> Result;
  support::onDeepStack([&] { Result.emplace(solve::solve(std::move(Units), O)); });
  return std::move(*Result);
}

/// None: --observed was not given.
llvm::Expected<std::optional<observe::Observation>> readRun(const Arguments &A) {
  if (A.Observed.empty())
    return std::nullopt;
  llvm::Expected<observe::Observation> Read = observe::readObservation(A.Observed);
  if (!Read)
    return Read.takeError();
  return std::move(*Read);
}

llvm::Error compareDeep(std::vector<facts::TranslationUnit> Units, const Arguments &A,
                        const observe::Observation &Seen, ScanResult &Into) {
  plan::Options O;
  O.Load = A.Load;
  O.Save = A.Save;
  O.Seen = &Seen;
  if (A.StepsMax)
    O.StepsMax = A.StepsMax;
  llvm::Error Wrong = llvm::Error::success();
  support::onDeepStack([&] {
    llvm::consumeError(std::move(Wrong));
    Wrong = plan::compareWithRun(std::move(Units), O, Into);
  });
  return Wrong;
}

void printAs(llvm::StringRef Format, const ScanResult &Result, llvm::raw_ostream &OS,
             const report::TextOptions &Text) {
  if (Format == "json")
    report::printJson(Result, OS);
  else if (Format == "html")
    report::printHtml(Result, OS);
  else
    report::printText(Result, OS, Text);
}

/// Prints every output that was asked for; all errors are reported. Whether all went well.
bool printAll(const Arguments &A, const ScanResult &Result, support::Diagnostics &D) {
  report::TextOptions Text;
  Text.Chains = !A.Quiet;
  Text.Verbose = A.Verbose;
  bool Fine = true;
  auto ToFile = [&](const std::string &Path, llvm::StringRef Format) {
    if (llvm::Error E = support::writeFile(Path, [&](llvm::raw_ostream &OS) {
          OS.enable_colors(Text.Color);
          printAs(Format, Result, OS, Text);
        })) {
      D.error(std::move(E));
      Fine = false;
    }
  };
  if (!A.JsonFile.empty())
    ToFile(A.JsonFile, "json");
  if (!A.HtmlFile.empty())
    ToFile(A.HtmlFile, "html");
  if (!A.Output.empty() && A.Output != "-") {
    Text.Color = A.Color == support::ColorMode::Always;
    ToFile(A.Output, A.Format);
    return Fine;
  }
  llvm::raw_fd_ostream &Out = llvm::outs();
  Text.Color = support::wantsColor(A.Color, Out);
  Out.enable_colors(Text.Color);
  printAs(A.Format, Result, Out, Text);
  return Fine;
}

std::string nextAfterScan(const Arguments &A, const ScanResult &Result) {
  if (Result.Types.empty())
    return asked("nvmove scan", A, {}, " --suggest-load") +
           " lists functions that may load the state";
  std::string Plan = asked("nvmove plan", A, A.Load, std::string(" -o ") + UsualPortFile);
  return (Result.Skipped.empty() || A.KeepGoing ? "" : "mend what was skipped; then ") + Plan;
}

} // namespace

int runScan(const Arguments &A) {
  auto Start = std::chrono::steady_clock::now();
  bool Color = support::wantsColor(A.Color, llvm::errs());
  llvm::errs().enable_colors(Color);
  support::Diagnostics D(llvm::errs(), Color, A.Quiet);

  llvm::Expected<Inputs> In = gatherInputs(A, D);
  if (!In) {
    D.error(In.takeError());
    return ExitUsage;
  }
  if (!A.Observed.empty())
    In->Read.insert(A.Observed);
  if (llvm::Error E = support::refuseInputs({A.Output, A.HtmlFile, A.JsonFile}, In->Read)) {
    D.error(std::move(E));
    return ExitUsage;
  }
  if (In->Units.empty()) {
    D.error("nothing could be analysed: " +
            (In->Skipped.empty()
                 ? "there is no input"
                 : "all " + std::to_string(In->Skipped.size()) + " inputs were skipped"));
    if (!In->Skipped.empty())
      D.note("for example: " + In->Skipped.front().Why, {In->Skipped.front().File});
    return ExitIncomplete;
  }
  llvm::Expected<std::optional<observe::Observation>> Run = readRun(A);
  if (!Run) {
    D.error(Run.takeError());
    return ExitUsage;
  }
  std::vector<facts::TranslationUnit> Again;
  if (*Run)
    Again = In->Units;
  ScanStats Gathered;
  Gathered.TranslationUnits = In->Units.size();
  Gathered.FromCache = In->FromCache;
  for (const facts::TranslationUnit &Unit : In->Units)
    Gathered.Lines += Unit.Lines;

  llvm::Expected<ScanResult> Result = solveDeep(std::move(In->Units), solverOptions(A));
  if (!Result) {
    llvm::Error Rest =
        llvm::handleErrors(Result.takeError(), [&](const solve::UnknownFunction &Unknown) {
          reportUnknownFunction(Unknown, !In->Skipped.empty(), D);
        });
    D.error(std::move(Rest));
    return ExitUsage;
  }
  if (*Run)
    if (llvm::Error Wrong = compareDeep(std::move(Again), A, **Run, *Result)) {
      D.error(std::move(Wrong));
      return ExitUsage;
    }
  Result->Program = In->Program;
  Result->Skipped = std::move(In->Skipped);
  Result->Stats.TranslationUnits = Gathered.TranslationUnits;
  Result->Stats.FromCache = Gathered.FromCache;
  Result->Stats.Lines = Gathered.Lines;
  Result->Stats.PeakMemoryBytes = support::peakMemoryBytes();
  Result->Stats.Seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Start).count();
  if (!printAll(A, *Result, D))
    return ExitUsage;
  tellNext(A, nextAfterScan(A, *Result));
  bool IsWhole = !Result->Incomplete && (Result->Skipped.empty() || A.KeepGoing);
  return IsWhole && !Result->Types.empty() ? ExitComplete : ExitIncomplete;
}

} // namespace nvmove::tool
