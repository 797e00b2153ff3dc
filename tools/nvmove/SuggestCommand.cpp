// nvmove scan --suggest-load, --suggest-save; and a scan that was not told what loads the state.
#include "nvmove/Commands.h"
#include "nvmove/Inputs.h"
#include "nvmove/Next.h"

#include "report/Suggestions.h"
#include "solve/answer/Suggest.h"
#include "support/Files.h"
#include "support/Process.h"

namespace nvmove::tool {

namespace {

constexpr unsigned Listed = 10, Offered = 5;

Suggestions suggest(const Arguments &A, const std::vector<facts::TranslationUnit> &Units,
                    unsigned Max) {
  solve::Options O;
  if (A.StepsMax)
    O.StepsMax = A.StepsMax;
  Suggestions Found;
  support::onDeepStack([&] {
    if (A.SuggestLoad || !A.SuggestSave)
      Found.Loads = solve::suggestLoads(Units, O, Max);
    if (A.SuggestSave)
      Found.Saves = solve::suggestSaves(Units, Max);
  });
  return Found;
}

/// Nobody asked: the error comes first, and what may be meant behind it.
int offer(const Suggestions &Found, support::Diagnostics &D) {
  D.error("which function loads the state? Name it with --load, e.g. --load " +
          (Found.Loads->empty() ? "rdbLoad" : Found.Loads->front().Name));
  report::printSuggestionsText(Found, llvm::errs());
  return ExitUsage;
}

} // namespace

int runSuggest(const Arguments &A) {
  support::Diagnostics D(llvm::errs(), support::wantsColor(A.Color, llvm::errs()), A.Quiet);
  bool Asked = A.SuggestLoad || A.SuggestSave;
  llvm::Expected<Inputs> In = gatherInputs(A, D);
  if (!In) {
    if (!Asked)
      D.error("which function loads the state? Name it with --load, e.g. --load rdbLoad");
    D.error(In.takeError());
    return ExitUsage;
  }
  if (llvm::Error E = support::refuseInputs({A.Output}, In->Read)) {
    D.error(std::move(E));
    return ExitUsage;
  }
  if (In->Units.empty()) {
    D.error("nothing could be analysed: " +
            (In->Skipped.empty() ? std::string("there is no input") : In->Skipped.front().Why));
    return ExitIncomplete;
  }
  Suggestions Found = suggest(A, In->Units, Asked ? Listed : Offered);
  if (!Asked)
    return offer(Found, D);
  auto Print = [&](llvm::raw_ostream &OS) {
    if (A.Format == "json")
      report::printSuggestionsJson(Found, OS);
    else
      report::printSuggestionsText(Found, OS);
  };
  if (A.Output.empty() || A.Output == "-") {
    Print(llvm::outs());
  } else if (llvm::Error E = support::writeFile(A.Output, Print)) {
    D.error(std::move(E));
    return ExitUsage;
  }
  if (Found.Loads && !Found.Loads->empty())
    tellNext(A, asked("nvmove scan", A, {Found.Loads->front().Name}));
  bool None = (!Found.Loads || Found.Loads->empty()) && (!Found.Saves || Found.Saves->empty());
  bool Partly = !In->Skipped.empty() && !A.KeepGoing;
  return None || Partly ? ExitIncomplete : ExitComplete;
}

} // namespace nvmove::tool
