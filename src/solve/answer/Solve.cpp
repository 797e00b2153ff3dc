// Composes the analysis: names, linking, inference, zone, what is left behind. See Solve.h.
#include "solve/answer/Solve.h"

#include "solve/answer/Baseline.h"
#include "solve/answer/Definitions.h"
#include "solve/answer/Doubts.h"
#include "solve/answer/LeftBehind.h"
#include "solve/answer/SaveZone.h"
#include "solve/reach/Zone.h"

#include "facts/FactsFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

namespace nvmove::solve {

namespace {

using facts::TranslationUnit;

void countTypes(const Program &P, ScanStats &Stats) {
  for (RecordKey Key = 0; Key != P.records().size(); ++Key)
    Stats.TypesTotal += P.record(Key).Complete && !P.record(Key).System && P.standsAlone(Key);
  for (const FunctionInfo &F : P.functions())
    Stats.FunctionsTotal += F.Body->Symbol != None;
}

} // namespace

llvm::Expected<ScanResult> solve(std::vector<TranslationUnit> Units, const Options &O) {
  auto Started = std::chrono::steady_clock::now();
  ScanResult Result;
  Result.Load = O.Load;
  Result.Save = O.Save;
  Result.Algorithm = O.Which == Algorithm::Nvmove ? "nvmove" : "left-behind";
  sortUnits(Units);
  std::vector<std::string> Programs;
  auto Load = findDefinitions(Units, O.Load, Programs);
  if (!Load)
    return Load.takeError();
  auto Save = findDefinitions(Units, O.Save, Programs);
  if (!Save)
    return Save.takeError();
  for (const TranslationUnit &Unit : Units)
    Result.Stats.Lines += Unit.Lines;
  Result.Stats.TranslationUnits = Units.size();
  std::vector<uint32_t> Seeds;
  for (const Definition &Each : *Load)
    Seeds.push_back(Each.Unit);
  for (const Definition &Each : *Save)
    Seeds.push_back(Each.Unit);
  Program P(std::move(Units), Seeds);
  countTypes(P, Result.Stats);
  Result.Notes = std::move(Programs);
  std::vector<FunctionId> LoadIds = idsOf(P, *Load);
  if (O.Which == Algorithm::Nvmove) {
    noteDoubts(P, runBaseline(P, LoadIds, O, Result), Result);
  } else {
    Inference Known(P);
    FunctionFlow Flow(P);
    Zone Z(P, Known, Flow, O.StepsMax);
    Z.visit(LoadIds);
    const Visits &V = Z.visits();
    noteDoubts(P, V.functions(), Result);
    LeftBehind Behind(P, V, Z.contents());
    std::set<RecordKey> Saved;
    if (!Save->empty())
      Saved = typesSaved(P, Known, Flow, idsOf(P, *Save));
    Result.Types = Behind.types(Save->empty() ? nullptr : &Saved);
    Result.Stats.FunctionsVisited = V.functions().size();
    llvm::append_range(Result.Notes, Z.notes());
    for (const std::string &Name : O.WhyNot)
      for (std::string &Line : Behind.whyNot(Name))
        Result.Notes.push_back(std::move(Line));
    Result.Incomplete |= Z.stopped();
    for (const Site &Each : V.unresolved()) {
      const FunctionInfo &F = V.functionOf(Each.In);
      const facts::Location &Where = Each.At->Where;
      Result.UnresolvedCalls.push_back({{F.unit().text(Where.File), Where.Line, Where.Column},
                                        F.Name,
                                        "no function whose address is taken fits this call"});
    }
  }
  Result.Stats.SolveSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - Started).count();
  return Result;
}

} // namespace nvmove::solve
