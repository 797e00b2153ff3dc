// nvmove plan: gather facts, think out a port file, write it.
#include "nvmove/Commands.h"
#include "nvmove/Inputs.h"
#include "nvmove/Next.h"

#include "crash/Shell.h"
#include "observe/Observation.h"
#include "plan/Planner.h"
#include "plan/WritePlan.h"
#include "plan/WriteSarif.h"
#include "port/PortFile.h"
#include "solve/answer/Solve.h"
#include "support/Files.h"
#include "support/Process.h"

#include "llvm/Support/FileSystem.h"

namespace nvmove::tool {

namespace {

llvm::Expected<plan::Plan> planDeep(std::vector<facts::TranslationUnit> Units,
                                    const plan::Options &O) {
  std::optional<llvm::Expected<plan::Plan>> Result;
  support::onDeepStack([&] { Result.emplace(plan::makePlan(std::move(Units), O)); });
  return std::move(*Result);
}

std::string counted(size_t Count, llvm::StringRef Noun) {
  return std::to_string(Count) + " " + Noun.str() + (Count == 1 ? "" : "s");
}

/// What the file says in short, to the terminal.
void summarise(const Arguments &A, const plan::Plan &Plan, support::Diagnostics &D) {
  for (const std::string &Note : Plan.Notes)
    D.note(Note);
  D.note(counted(Plan.Types.size(), "persistent type") + ", " + counted(Plan.Roots.size(), "root") +
         ", " + counted(Plan.Questions.size(), "question"));
  std::string Port = crash::shellWord(support::displayPath(A.Output));
  tellNext(A, (Plan.Questions.empty() ? "read " + Port : "answer the questions in " + Port) +
                  ", then build the program with nvmove-cc --nvmove-port=" + Port);
}

bool writePlan(const Arguments &A, const plan::Plan &Plan, support::Diagnostics &D) {
  if (A.Output.empty() || A.Output == "-") {
    plan::writePortFile(Plan, llvm::outs());
    return true;
  }
  if (llvm::Error E = support::writeFile(
          A.Output, [&](llvm::raw_ostream &OS) { plan::writePortFile(Plan, OS); })) {
    D.error(std::move(E));
    return false;
  }
  if (!A.Quiet)
    summarise(A, Plan, D);
  return true;
}

/// \p Partly: a source that was skipped may ask for more.
int tellDrift(const Arguments &A, const plan::Plan &Plan, bool Partly, support::Diagnostics &D) {
  bool Whole = !Partly && !Plan.Incomplete;
  if (A.Format == "sarif") {
    plan::writeSarif(Plan, NVMOVE_VERSION, Whole, llvm::outs());
    return Plan.Drift.empty() && Whole ? ExitComplete : ExitIncomplete;
  }
  for (const auto &[Kind, Each] : Plan.Drift)
    D.warning("'" + Each.Name + "' " + Each.Why,
              {Each.Where.File, Each.Where.Line, Each.Where.Column});
  for (const std::string &Note : Plan.Notes)
    D.note(Note);
  llvm::outs() << support::displayPath(A.Against) << ": "
               << (!Plan.Drift.empty() ? counted(Plan.Drift.size(), "finding")
                   : Whole             ? "has what the source asks for"
                                       : "nothing was found, but not all was analysed")
               << "\n";
  return Plan.Drift.empty() && Whole ? ExitComplete : ExitIncomplete;
}

} // namespace

int runPlan(const Arguments &A) {
  bool Color = support::wantsColor(A.Color, llvm::errs());
  support::Diagnostics D(llvm::errs(), Color, A.Quiet);
  if (!A.Replace && !A.Output.empty() && A.Output != "-" && llvm::sys::fs::exists(A.Output)) {
    D.error(A.Output + " exists, and may have been edited: choose another name, or --replace it");
    return ExitUsage;
  }
  llvm::Expected<Inputs> In = gatherInputs(A, D);
  if (!In) {
    D.error(In.takeError());
    return ExitUsage;
  }
  if (llvm::Error E = support::refuseInputs({A.Output}, In->Read, "plan")) {
    D.error(std::move(E));
    return ExitUsage;
  }
  if (In->Units.empty()) {
    D.error("nothing could be analysed: " +
            (In->Skipped.empty() ? std::string("there is no input") : In->Skipped.front().Why));
    return ExitIncomplete;
  }
  std::optional<port::PortFile> Against;
  if (!A.Against.empty()) {
    llvm::Expected<port::PortFile> Read = port::readPortFile(A.Against);
    if (!Read) {
      D.error(Read.takeError());
      return ExitUsage;
    }
    Against = std::move(*Read);
  }
  std::optional<observe::Observation> Seen;
  if (!A.Observed.empty()) {
    llvm::Expected<observe::Observation> Read = observe::readObservation(A.Observed);
    if (!Read) {
      D.error(Read.takeError());
      return ExitUsage;
    }
    Seen = std::move(*Read);
  }
  plan::Options O;
  O.Seen = Seen ? &*Seen : nullptr;
  O.Against = Against ? &*Against : nullptr;
  O.Load = A.Load;
  O.Save = A.Save;
  if (A.StepsMax)
    O.StepsMax = A.StepsMax;
  llvm::Expected<plan::Plan> Plan = planDeep(std::move(In->Units), O);
  if (!Plan) {
    llvm::Error Rest =
        llvm::handleErrors(Plan.takeError(), [&](const solve::UnknownFunction &Unknown) {
          reportUnknownFunction(Unknown, !In->Skipped.empty(), D);
        });
    D.error(std::move(Rest));
    return ExitUsage;
  }
  bool Partly = !In->Skipped.empty() && !A.KeepGoing;
  if (Partly)
    D.warning(counted(In->Skipped.size(), "input") +
                  " could not be analysed, so this is not complete (" + In->Skipped.front().Why +
                  "); --keep-going does without",
              {In->Skipped.front().File});
  if (!A.Against.empty())
    return tellDrift(A, *Plan, Partly, D);
  if (!writePlan(A, *Plan, D))
    return ExitUsage;
  return Plan->Incomplete || Plan->Roots.empty() || Partly ? ExitIncomplete : ExitComplete;
}

} // namespace nvmove::tool
