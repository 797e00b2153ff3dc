// Composes a plan. See Planner.h.
#include "plan/Planner.h"

#include "plan/Allocations.h"
#include "plan/Roots.h"

#include "solve/Definitions.h"
#include "solve/LeftBehind.h"
#include "solve/SaveZone.h"
#include "solve/Zone.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace nvmove::plan {

namespace {

using facts::Instruction;
using facts::Op;
using facts::TranslationUnit;

FunctionId findMain(const Program &P) {
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    if (const FunctionInfo &F = P.function(Id);
        F.Name == "main" && F.Body->Symbol != None && F.symbol().External)
      return Id;
  return None;
}

/// What a load function gives at its end, where that is a constant.
std::optional<int64_t> resultOf(const FunctionInfo &F) {
  const Instruction *Last = nullptr;
  for (const Instruction &I : F.Body->Body)
    if (I.Code == Op::Return && (I.Region == 0 || !Last || Last->Region != 0))
      Last = &I;
  return Last && Last->Implicit ? std::optional<int64_t>(Last->Delta) : std::nullopt;
}

class Planner {
public:
  Planner(const Program &P, std::vector<FunctionId> Load, std::vector<FunctionId> Save,
          const Options &O)
      : P(P), Load(std::move(Load)), Save(std::move(Save)), O(O), Known(P), Flow(P), Say(P) {}

  llvm::Expected<Plan> run();

private:
  Moved::Scanned scan();
  void describeLoad();
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
  std::set<RecordKey> Saved;
  if (!Save.empty())
    Saved = typesSaved(P, Known, Flow, Save);
  Result.Types = Behind.types(Save.empty() ? nullptr : &Saved);
  Result.Incomplete |= Z.stopped();
  llvm::append_range(Result.Notes, Z.notes());
  return {Load, Behind.records(Save.empty() ? nullptr : &Saved), Behind.untypedData()};
}

void Planner::describeLoad() {
  for (FunctionId Id : Load) {
    const FunctionInfo &F = P.function(Id);
    LoadLine Line{{Say.function(Id),
                   "fills a new pool; with a pool that has the data it returns at once",
                   Say.definition(Id)},
                  resultOf(F)};
    bool Nothing = F.result().What == Core::Void && !F.result().Pointers;
    if (F.result().Pointers)
      Result.Questions.push_back(
          {Key::Load,
           Line.Of.Name + " returns a pointer; with a pool that has the data it returns null",
           {"a root has the data: let the caller take it from there",
            "name a function around the call, that stores the result"}});
    else if (!Nothing && !Line.Attached) {
      Line.Attached = 0;
      Result.Questions.push_back({Key::Load,
                                  "what does " + Line.Of.Name + " return when all went well?",
                                  {"0, as here", "another number, behind 'attached'"}});
    }
    const std::vector<CallSite> &Callers = Known.callers(Id);
    if (Callers.size() > 1)
      Result.Questions.push_back(
          {Key::Load,
           Line.Of.Name + " is called from " + std::to_string(Callers.size()) +
               " places; its first call loads, and later ones with a pool that has the data return "
               "at once",
           {"nothing, if only the start calls it", "name the function that only the start calls"}});
    else if (Callers.size() == 1 && Callers.front().Call->Region != 0)
      Result.Questions.push_back(
          {Key::Load,
           Line.Of.Name + " is called under a condition (" +
               shown(Say.place(P.function(Callers.front().Caller), Callers.front().Call->Where)) +
               "); a start that does not call it keeps nothing",
           {"nothing, if each start calls it",
            "name the function around the condition: " + Say.function(Callers.front().Caller)}});
    Result.Loads.push_back(std::move(Line));
  }
}

void Planner::describeTurns(const Everything &All, const Turns &When) {
  for (FunctionId Id : When.commit())
    Result.Commit.push_back({Say.function(Id), "an answer leaves there", Say.definition(Id)});
  for (FunctionId Id : When.atomic())
    Result.Atomic.push_back(
        {Say.function(Id), "makes a change as a whole, and answers nothing", Say.definition(Id)});
  std::set<std::string> Places;
  for (const Site &Each : When.early())
    Places.insert(shown(Say.place(All.visits().functionOf(Each.In), Each.At->Where)));
  if (!Places.empty())
    Result.Questions.push_back(
        {Key::Commit,
         "what these lines give out may leave before what it tells of is durable: " +
             listed(Places),
         {"nothing, if it tells nobody of a change (a log)",
          "move it into a function of its own, and add that to 'commit'"}});
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
  Result.Program = llvm::sys::path::filename(P.function(Main).unit().MainFile).str();
  const Moved::Scanned Found = scan();
  Everything All(P, Known, Flow, O.StepsMax);
  if (!All.visit(Main)) {
    Result.Incomplete = true;
    Result.Notes.push_back(
        "the analysis of the whole program was stopped at its step limit (--steps-max)");
  }
  Moved What(P, All, Found);
  Turns When(P, Known, All, What, Load, Save);
  describeAllocations(P, Known, All, What, Result);
  RootFinder(P, All, What, When, Load).describe(Result);
  if (Result.Roots.empty())
    Result.Questions.push_back(
        {Key::Roots,
         "no global variable leads to what the load makes",
         {"make the variable that does (a local of main, perhaps) a global one, and plan again"}});
  describeLoad();
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
  Program P(std::move(Units), Seeds);
  llvm::Expected<Plan> Made = Planner(P, idsOf(P, *Load), idsOf(P, *Save), O).run();
  if (Made)
    llvm::append_range(Made->Notes, Notes);
  return Made;
}

} // namespace nvmove::plan
