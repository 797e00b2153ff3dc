// Composes a plan. See Planner.h.
#include "plan/Planner.h"

#include "plan/Allocations.h"
#include "plan/Chains.h"
#include "plan/Drift.h"
#include "plan/Edges.h"
#include "plan/Ends.h"
#include "plan/Loads.h"
#include "plan/Observed.h"
#include "plan/Roots.h"
#include "plan/Turns.h"

#include "solve/answer/Definitions.h"
#include "solve/answer/LeftBehind.h"
#include "solve/reach/Zone.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace nvmove::plan {

namespace {

using facts::Instruction;
using facts::Op;
using facts::TranslationUnit;

class Planner {
public:
  Planner(const Program &P, std::vector<FunctionId> Load, std::vector<FunctionId> Save,
          const Options &O)
      : P(P), Load(std::move(Load)), Save(std::move(Save)), O(O), Known(P), Flow(P), Say(P) {}

  llvm::Expected<Plan> run();

private:
  Moved::Scanned scan();
  void leaveApart(const Everything &All, Moved::Scanned &Found);
  void describeTurns(const Everything &All, const Turns &When);
  void noteForks(const Everything &All, const Turns &When);

  const Program &P;
  const std::vector<FunctionId> Load, Save;
  const Options &O;
  const Inference Known;
  const FunctionFlow Flow;
  const Names Say;
  Plan Result;
};

/// The scan: what the load leaves behind, as `nvmove scan` finds it.
Moved::Scanned Planner::scan() {
  Zone Z(P, Known, Flow, O.StepsMax);
  Z.visit(Load);
  LeftBehind Behind(P, Z.visits(), Z.contents());
  Result.Types = Behind.types(nullptr);
  Result.Incomplete |= Z.stopped();
  llvm::append_range(Result.Notes, Z.notes());
  // All of it moves, whether or not it is saved: what the load makes beside the data (an index) is not
  // made again where the pool has the data.
  return {Load, Behind.records(nullptr), Behind.untypedData()};
}

/// What the run made and did not link to the data stays, and so do the variables that lead to nothing
/// else. A run without data of some kind is wrong about it, so these variables are told.
void Planner::leaveApart(const Everything &All, Moved::Scanned &Found) {
  std::set<Cell> Before = Moved(P, All, Found).roots();
  Found.Apart = seenApart(P, All, *O.Seen, O.Load);
  const Moved What(P, All, Found);
  std::set<std::string> Left;
  for (Cell Each : Before)
    if (!What.roots().count(Each))
      Left.insert(Say.variable(All.graph().object(Each.In).Id));
  if (!Left.empty())
    Result.Questions.push_back(
        {Key::Roots,
         "the source may link data to these variables, and the observed run did not; they are no "
         "roots: " +
             listed(Left),
         {"nothing, if the run loaded data of each kind", "else observe a run that does"}});
}

void Planner::describeTurns(const Everything &All, const Turns &When) {
  for (FunctionId Id : When.commit())
    Result.Commit.push_back({Say.function(Id), "an answer leaves there", Say.definition(Id)});
  for (FunctionId Id : When.atomic())
    Result.Atomic.push_back({Say.function(Id), "makes a change", Say.definition(Id)});
  std::set<std::string> Places;
  for (const Site &Each : When.early())
    Places.insert(shown(Say.place(All.visits().functionOf(Each.In), Each.At->Where)));
  if (!Places.empty())
    Result.Questions.push_back(
        {Key::Commit,
         "what these lines give out may leave before what it tells of is durable: " +
             listed(Places),
         {"nothing, if it tells nobody of a change (a log)",
          "move it into a function of its own, and add that to 'commit'; out of an 'atomic' "
          "function, which commits at its end only"}});
  Places.clear();
  for (const Site &Each : When.late())
    Places.insert(shown(Say.place(All.visits().functionOf(Each.In), Each.At->Where)));
  if (!Places.empty())
    Result.Questions.push_back(
        {Key::Commit,
         "these changes come after an answer, and are durable with the next one only: " +
             listed(Places),
         {"nothing, if the answer does not tell of them", "answer after the change"}});
  if (When.entryAnswers() && !Result.Atomic.empty())
    Result.Questions.push_back(
        {Key::Atomic,
         "main answers by itself, so each of these calls is durable by itself, and a command that "
         "makes "
         "several is not whole",
         {"nothing, if each command makes one", "let a function of its own give the answer, and "
                                                "add that to 'commit' in place of these"}});
  if (Result.Commit.empty() && Result.Atomic.empty())
    Result.Questions.push_back({Key::Commit,
                                "no function was found at whose entry the data are whole",
                                {"name one: the place where a change is complete"}});
}

void Planner::noteForks(const Everything &All, const Turns &When) {
  for (InstanceId In = 0; In != All.instances(); ++In)
    for (const Instruction &I : All.visits().functionOf(In).Body->Body) {
      const FunctionInfo &F = All.visits().functionOf(In);
      if (!When.runs(In) || I.Code != Op::Call || I.A == None)
        continue;
      Entity Callee = P.entity(F, I.A);
      llvm::StringRef Name;
      if (Callee.What == Entity::External)
        Name = P.externals()[Callee.Id].Name;
      if (Name != "fork" && Name != "popen" && Name != "system")
        continue;
      Result.Notes.push_back("the program calls " + Name.str() + " (" +
                             shown(Say.place(F, I.Where)) +
                             "): run it with NVMOVE_METHOD=shadow, whose children have a snapshot");
      return;
    }
}

llvm::Expected<Plan> Planner::run() {
  FunctionId Main = findMain(P);
  if (Main == None)
    return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                   "the program has no main: a plan needs all of its sources");
  if (llvm::is_contained(Load, Main))
    return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                   "main cannot be the load: it is left out where the pool has the "
                                   "data; put what loads into a "
                                   "function of its own");
  Result.Program = llvm::sys::path::filename(P.function(Main).unit().MainFile).str();
  Moved::Scanned Found = scan();
  Everything All(P, Known, Flow, O.StepsMax);
  if (!All.visit(Main)) {
    Result.Incomplete = true;
    Result.Notes.push_back(
        "the analysis of the whole program was stopped at its step limit (--steps-max)");
  }
  if (O.Seen && !Result.Incomplete)
    leaveApart(All, Found);
  Moved What(P, All, Found);
  std::vector<FunctionId> NotRunning = Save;
  llvm::append_range(
      NotRunning,
      describeEnds(P, Known, All, What, Turns(P, Known, All, What, Load, Save), Save, Result));
  Turns When(P, Known, All, What, Load, NotRunning);
  describeAllocations(P, Known, All, What, Result);
  RootFinder Roots(P, Known, All, What);
  Roots.describe(Result);
  EdgeFinder(P, All.graph(), What, Roots.inPool()).describe(Result);
  if (Result.Roots.empty())
    Result.Questions.push_back(
        {Key::Roots,
         "no global variable leads to what the load makes",
         {"if a local variable of main does, make it a global one, and plan again",
          "else name another function: one that makes what its caller keeps"},
         "roots"});
  describeLoads(P, Known, All, Load, Result);
  if (O.Seen)
    if (llvm::Error Wrong = addObserved(P, All, What, *O.Seen, O.Load, Result))
      return std::move(Wrong);
  if (O.Against)
    Result.Drift = findDrift(P, All, What, Result, *O.Against);
  describeTurns(All, When);
  noteForks(All, When);
  return std::move(Result);
}

} // namespace

llvm::Expected<Plan> makePlan(std::vector<TranslationUnit> Units, const Options &O) {
  sortUnits(Units);
  std::vector<std::string> Notes;
  auto Load = findDefinitions(Units, O.Load, Notes);
  if (!Load)
    return Load.takeError();
  auto Save = findDefinitions(Units, O.Save, Notes);
  if (!Save)
    return Save.takeError();
  std::vector<uint32_t> Seeds;
  for (const Definition &Each : *Load)
    Seeds.push_back(Each.Unit);
  for (const Definition &Each : *Save)
    Seeds.push_back(Each.Unit);
  size_t Mains = 0;
  for (const TranslationUnit &Unit : Units)
    for (const facts::Function &Body : Unit.Functions)
      Mains += Body.Symbol != None && Unit.text(Unit.Symbols[Body.Symbol].Name) == "main";
  Program P(std::move(Units), Seeds);
  llvm::Expected<Plan> Made = Planner(P, idsOf(P, *Load), idsOf(P, *Save), O).run();
  if (Made)
    llvm::append_range(Made->Notes, Notes);
  if (Made && Mains > 1)
    Made->Notes.push_back(std::to_string(Mains) + " sources have a main; this is the program of " +
                          Made->Program);
  return Made;
}

} // namespace nvmove::plan
