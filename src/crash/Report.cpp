// Printing results: see Report.h.
#include "crash/Report.h"

#include "support/Diagnostics.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace nvmove::crash {
namespace {

const char *nameOf(Model M) { return M == Model::Power ? "power" : "process"; }

support::Place placeOf(const Site *S) {
  return S ? support::Place{S->File, S->Line, S->Column} : support::Place{};
}

llvm::json::Value placeJson(const Site *S) {
  if (!S)
    return nullptr;
  return llvm::json::Object{
      {"file", S->File}, {"line", S->Line}, {"column", S->Column}, {"field", S->Field}};
}

std::string plural(uint64_t Count, llvm::StringRef Noun) {
  return llvm::formatv("{0} {1}{2}", Count, Noun, Count == 1 ? "" : "s").str();
}

} // namespace

void printText(llvm::raw_ostream &OS, bool Color, const Options &O, const Result &R) {
  support::SourceLines Sources;
  for (const Finding &F : R.Findings) {
    std::string Times = F.Count > 1 ? " (" + plural(F.Count, "time") + ")" : "";
    support::printDiagnostic(OS, Color, Sources, support::Severity::Error, placeOf(F.Where),
                             F.Kind + ": " + F.Message + Times);
    for (const auto &[Where, Text] : F.Notes)
      support::printDiagnostic(OS, Color, Sources, support::Severity::Note, placeOf(Where), Text);
  }
  OS << llvm::formatv("{0} model: {1} ({2} of them different images) in {3}, {4} commits, {5} "
                      "stores; {6:f1} s, {7:f0} states/s\n",
                      nameOf(O.What), plural(R.States, "state"), R.Distinct,
                      plural(R.Epochs, "epoch"), R.Commits, R.Stores, R.Seconds,
                      R.Seconds > 0 ? double(R.States) / R.Seconds : 0.0);
  if (R.Omitted)
    OS << plural(R.Omitted, "further finding") << " not listed\n";
  if (R.Interrupted)
    OS << "recovery killed at a step " << plural(R.Interrupted, "time")
       << ", and what it left judged\n";
  if (R.Sampled)
    OS << plural(R.Sampled, "epoch") << " had more than " << O.EpochMax
       << " choices and were sampled (seed " << O.Seed << "; --epoch-states=N takes more)\n";
  if (R.Unexplored)
    OS << plural(R.Unexplored, "state") << " left out (--states-max=" << O.StatesMax << ")\n";
  for (const std::string &Text : R.NotDone)
    OS << "not covered: " << Text << '\n';
  if (!R.Findings.empty())
    OS << plural(R.Findings.size(), "finding") << '\n';
  else if (R.finished())
    OS << (R.NotDone.empty() ? "no finding: every state of this run recovers to what was before or "
                               "after its transaction\n"
                             : "no finding in what was covered\n");
  else
    OS << "no finding in the states that were judged; that is not all of them\n";
}

void printJson(llvm::raw_ostream &OS, const Options &O, const Result &R) {
  llvm::json::Array Findings, NotDone;
  for (const Finding &F : R.Findings) {
    llvm::json::Array Notes;
    for (const auto &[Where, Text] : F.Notes)
      Notes.push_back(llvm::json::Object{{"place", placeJson(Where)}, {"text", Text}});
    Findings.push_back(llvm::json::Object{{"kind", F.Kind},
                                          {"message", F.Message},
                                          {"place", placeJson(F.Where)},
                                          {"notes", std::move(Notes)},
                                          {"count", F.Count},
                                          {"event", F.Event}});
  }
  for (const std::string &Text : R.NotDone)
    NotDone.push_back(Text);
  llvm::json::Object Explored{
      {"states", R.States},         {"distinct_images", R.Distinct},
      {"epochs", R.Epochs},         {"sampled_epochs", R.Sampled},
      {"unexplored", R.Unexplored}, {"omitted_findings", R.Omitted},
      {"commits", R.Commits},       {"interrupted_recoveries", R.Interrupted},
      {"stores", R.Stores},         {"seed", O.Seed},
      {"seconds", R.Seconds}};
  OS << llvm::formatv("{0:2}\n",
                      llvm::json::Value(llvm::json::Object{{"schema_version", 1},
                                                           {"model", nameOf(O.What)},
                                                           {"findings", std::move(Findings)},
                                                           {"explored", std::move(Explored)},
                                                           {"finished", R.finished()},
                                                           {"not_done", std::move(NotDone)}}));
}

} // namespace nvmove::crash
