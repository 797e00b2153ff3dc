// Printing results: see Report.h.
#include "crash/Report.h"

#include "crash/Kinds.h"
#include "nvmove/nvmove.h"
#include "support/Diagnostics.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cassert>
#include <set>

namespace nvmove::crash {
namespace {

const char *nameOf(Model M) {
  return M == Model::Power ? "power" : M == Model::Process ? "process" : "disk";
}

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

/// ", at file:line", or nothing.
std::string atPlace(const Site *S) {
  return S && S->Line ? ", at " + S->File + ":" + std::to_string(S->Line) : "";
}

const char *levelOf(const Finding &F) { return F.IsWarning ? "warning" : "error"; }

const Kind &kindOf(const Finding &F) {
  const Kind *Known = kindNamed(F.Kind);
  assert(Known && "Kinds.def has each");
  return *Known;
}

std::string ruleOf(const Finding &F) { return kindOf(F).rule(); }

llvm::json::Object locationJson(const Site *S, const std::string &Text) {
  llvm::json::Object Made{{"message", llvm::json::Object{{"text", Text}}}};
  if (S && S->Line)
    Made["physicalLocation"] = llvm::json::Object{
        {"artifactLocation", llvm::json::Object{{"uri", "file://" + S->File}}},
        {"region",
         llvm::json::Object{{"startLine", S->Line}, {"startColumn", std::max(S->Column, 1u)}}}};
  return Made;
}

/// What is said where no error was found.
const char *verdictOf(const Options &O, const Result &R) {
  if (R.finished() && !R.NotDone.empty())
    return " in what was covered";
  if (R.finished() && R.Raw)
    return ": the checker accepts every state that a crash of this run could leave";
  if (R.finished())
    return ": every state of this run recovers to what was before or after its transaction";
  if (R.Looks && !R.Cut && !R.Unclosed && O.What != Model::Disk)
    return ": each failure point was explored, but not every state of it";
  return " in the states that were judged; that is not all of them";
}

/// What happened in the run and in the exploration beside findings.
void printCourse(llvm::raw_ostream &OS, const Options &O, const Result &R) {
  if (R.Recoveries.All)
    OS << "recovery was made to fail " << plural(R.Recoveries.All, "time") << " (killed at a step, "
       << plural(R.Recoveries.Moves, "time")
       << " of a move, or without power), and what it left was judged"
       << (R.Recoveries.Stayed
               ? "; the pool could not be moved " + plural(R.Recoveries.Stayed, "time")
               : "")
       << '\n';
  if (!O.InterruptEvery && !R.Raw && O.What != Model::Disk)
    OS << "recovery was not made to fail (--interrupt-every=0)\n";
  if (R.Threads > 1 && !R.Raw)
    OS << R.Threads
       << (R.LocksUnseen
               ? " threads took part, and their locks were not seen: a finding may come of an "
                 "order of their transactions that cannot be\n"
               : " threads took part: an order that they keep by locks is known, one by atomic "
                 "instructions, barriers or pipes is not\n");
  if (!R.Failed.empty())
    OS << plural(R.Failed.size(), "commit")
       << " of the program failed, and undid what was to be saved; "
       << "does the program look at the result? The first: "
       << nvm_error_name(static_cast<nvm_error>(R.Failed.front().Error))
       << atPlace(R.Failed.front().Where) << '\n';
}

} // namespace

void printText(llvm::raw_ostream &OS, bool Color, const Options &O, const Result &R) {
  support::SourceLines Sources;
  for (const Finding &F : R.Findings) {
    std::string Times = F.Count > 1 ? " (" + plural(F.Count, "time") + ")" : "";
    Times += F.Method.empty() ? "" : " (with " + F.Method + ")";
    auto Severity = F.IsWarning ? support::Severity::Warning : support::Severity::Error;
    support::printDiagnostic(OS, Color, Sources, Severity, placeOf(F.Where),
                             F.Kind + ": " + F.Message + Times);
    for (const auto &[Where, Text] : F.Callers)
      support::printDiagnostic(OS, Color, Sources, support::Severity::Note, placeOf(&Where), Text);
    for (const auto &[Where, Text] : F.Notes)
      support::printDiagnostic(OS, Color, Sources, support::Severity::Note, placeOf(Where), Text);
    if (!F.Replay.empty())
      OS << "  replay: " << F.Replay << '\n';
  }
  OS << llvm::formatv("{0} model: {1} ({2} of them different images) in {3} at {4}, {5}{6}; "
                      "{7:f1} s, {8:f0} states/s{9}\n",
                      nameOf(O.What), plural(R.States, "state"), R.Distinct,
                      plural(R.Epochs, "epoch"), plural(R.FailurePoints, "failure point"),
                      R.Raw ? "" : plural(R.Commits, "commit") + ", ", plural(R.Stores, "store"),
                      R.Seconds, R.Seconds > 0 ? double(R.States) / R.Seconds : 0.0,
                      R.Method.empty() ? "" : "; method " + R.Method);
  if (R.Omitted)
    OS << plural(R.Omitted, "further finding") << " not listed\n";
  printCourse(OS, O, R);
  if (O.What == Model::Disk)
    OS << llvm::formatv(
        "a failure of the machine, on an ordinary file: {0} of these states are not opened, {1} "
        "open "
        "with other data than was committed, {2} are right; libnvmove promises nothing here\n",
        R.Refused, R.Lost, R.States - R.Refused - R.Lost);
  if (R.Sampled && O.What != Model::Disk)
    OS << "sampled (seed " << O.Seed << "): " << plural(R.Sampled, "epoch") << " with more than "
       << O.Each.EpochMax << " choices; --epoch-states=N takes more\n";
  if (R.Skipped)
    OS << plural(R.Skipped, "epoch") << " left out: at the same failure point "
       << plural(O.PerPoint, "other") << " were explored (--per-point=" << O.PerPoint << ")\n";
  if (R.Unexplored)
    OS << "at least " << plural(R.Unexplored, "state") << " left out (--states-max=" << O.StatesMax
       << ")\n";
  for (const std::string &Text : R.NotDone)
    OS << "not covered: " << Text << '\n';
  if (O.Only && R.Findings.empty())
    OS << "this state is right\n";
  else if (R.hasErrors())
    OS << plural(R.Findings.size(), "finding") << '\n';
  else if (!R.Ended.empty())
    OS << R.Ended << ": "
       << (R.Findings.empty() ? "nothing" : plural(R.Findings.size(), "warning") + ", no error,")
       << " was found in what it did until then; a run that fails proves nothing\n";
  else
    OS << (R.Findings.empty() ? "no finding" : plural(R.Findings.size(), "warning") + ", no error")
       << verdictOf(O, R) << '\n';
}

void printJson(llvm::raw_ostream &OS, const Options &O, const Result &R) {
  llvm::json::Array Findings, NotDone;
  for (const Finding &F : R.Findings) {
    llvm::json::Array Notes;
    for (const auto &[Where, Text] : F.Notes)
      Notes.push_back(llvm::json::Object{{"place", placeJson(Where)}, {"text", Text}});
    llvm::json::Array Callers;
    for (const auto &[Where, Text] : F.Callers)
      Callers.push_back(llvm::json::Object{{"place", placeJson(&Where)}, {"text", Text}});
    llvm::json::Value Again = nullptr;
    if (!F.Replay.empty())
      Again = F.Replay;
    Findings.push_back(llvm::json::Object{{"kind", F.Kind},
                                          {"level", levelOf(F)},
                                          {"message", F.Message},
                                          {"place", placeJson(F.Where)},
                                          {"callers", std::move(Callers)},
                                          {"notes", std::move(Notes)},
                                          {"count", F.Count},
                                          {"method", F.Method.empty() ? R.Method : F.Method},
                                          {"event", F.Event},
                                          {"state", F.State},
                                          {"replay", std::move(Again)}});
  }
  for (const std::string &Text : R.NotDone)
    NotDone.push_back(Text);
  llvm::json::Object Explored{{"states", R.States},
                              {"distinct_images", R.Distinct},
                              {"epochs", R.Epochs},
                              {"failure_points", R.FailurePoints},
                              {"sampled_epochs", R.Sampled},
                              {"unexplored", R.Unexplored},
                              {"possible", R.Possible},
                              {"time_up", R.TimeUp},
                              {"skipped_epochs", R.Skipped},
                              {"omitted_findings", R.Omitted},
                              {"commits", R.Commits},
                              {"failed_commits", R.Failed.size()},
                              {"interrupted_recoveries", R.Recoveries.All},
                              {"interrupted_moves", R.Recoveries.Moves},
                              {"refused_moves", R.Recoveries.Stayed},
                              {"stores", R.Stores},
                              {"seed", O.Seed},
                              {"threads", R.Threads},
                              {"refused", R.Refused},
                              {"lost", R.Lost},
                              {"seconds", R.Seconds}};
  OS << llvm::formatv("{0:2}\n",
                      llvm::json::Value(llvm::json::Object{{"schema_version", 1},
                                                           {"model", nameOf(O.What)},
                                                           {"method", R.Method},
                                                           {"findings", std::move(Findings)},
                                                           {"explored", std::move(Explored)},
                                                           {"finished", R.finished()},
                                                           {"program_failed", R.Ended},
                                                           {"not_done", std::move(NotDone)}}));
}

void printSarif(llvm::raw_ostream &OS, const Options &O, const Result &R) {
  using llvm::json::Array;
  using llvm::json::Object;
  Array Rules, Results, Notifications;
  std::set<std::string> Known;
  for (const Finding &F : R.Findings) {
    if (Known.insert(ruleOf(F)).second)
      Rules.push_back(Object{{"id", ruleOf(F)},
                             {"shortDescription", Object{{"text", F.Kind}}},
                             {"fullDescription", Object{{"text", kindOf(F).What}}},
                             {"help", Object{{"text", kindOf(F).Mend}}},
                             {"helpUri", kindOf(F).page()}});
    Array Related;
    for (const auto &[Where, Text] : F.Notes)
      Related.push_back(locationJson(Where, Text));
    Object Properties{{"event", F.Event}, {"model", nameOf(O.What)}};
    if (!F.Replay.empty())
      Properties["replay"] = F.Replay;
    if (!F.Method.empty())
      Properties["method"] = F.Method;
    Object Made{{"ruleId", ruleOf(F)},
                {"level", levelOf(F)},
                {"message", Object{{"text", F.Kind + ": " + F.Message}}},
                {"occurrenceCount", F.Count},
                {"relatedLocations", std::move(Related)},
                {"properties", std::move(Properties)}};
    Array Frames;
    for (const auto &[Where, Text] : F.Callers)
      Frames.push_back(Object{{"location", locationJson(&Where, Text)}});
    if (!Frames.empty())
      Made["stacks"] = Array{Object{{"frames", std::move(Frames)}}};
    if (F.Where)
      Made["locations"] = Array{locationJson(F.Where, F.Kind)};
    Results.push_back(std::move(Made));
  }
  for (const std::string &Text : R.NotDone)
    Notifications.push_back(Object{{"level", "warning"}, {"message", Object{{"text", Text}}}});
  Object Driver{{"name", "nvmove crash"}, {"rules", std::move(Rules)}};
  Object Invocation{{"executionSuccessful", R.finished() && R.Ended.empty()},
                    {"toolExecutionNotifications", std::move(Notifications)}};
  Object Run{{"tool", Object{{"driver", std::move(Driver)}}},
             {"invocations", Array{std::move(Invocation)}},
             {"results", std::move(Results)}};
  OS << llvm::formatv("{0:2}\n", llvm::json::Value(Object{
                                     {"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                                     {"version", "2.1.0"},
                                     {"runs", Array{std::move(Run)}}}));
}

} // namespace nvmove::crash
