// See Ends.h.
#include "plan/Ends.h"

#include "plan/Names.h"
#include "plan/Regions.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::plan {

namespace {

using facts::Instruction;
using facts::Op;
using facts::Register;

class EndFinder {
public:
  EndFinder(const Program &P, const Inference &Known, const Everything &All, const Moved &What,
            const Turns &When, llvm::ArrayRef<FunctionId> Save, Plan &Into)
      : P(P), Known(Known), All(All), What(What), When(When), Save(Save), Into(Into), Say(P) {}
  std::vector<FunctionId> run();

private:
  /// Calls of one function.
  struct Calls {
    std::vector<Edge> Last, Others;
    bool AtExit = false;
  };

  llvm::StringRef external(InstanceId In, const Instruction &I) const;
  bool releases(InstanceId In, const Instruction &I) const;
  void findReleasing();
  void findWriting();
  bool isSweep(InstanceId In, const Instruction &Free) const;
  bool sweeps(FunctionId Id) const;
  bool writes(FunctionId Id) const;
  bool writesBehind(const Edge &Call) const;
  void findHandlers();
  bool isLastOfMain(const Edge &Call) const;
  bool exitFollows(const Edge &Call) const;
  bool makesNothing(FunctionId Id) const;
  void sortCalls();
  void choose(FunctionId Id, const Calls &Of);
  bool isWithinEnd(FunctionId Id) const;

  const Program &P;
  const Inference &Known;
  const Everything &All;
  const Moved &What;
  const Turns &When;
  const llvm::ArrayRef<FunctionId> Save;
  Plan &Into;
  const Names Say;
  std::map<InstanceId, SourcePlace> Releasing; ///< Where something is freed.
  std::set<InstanceId> Writing;
  bool WritesAtExit = false; ///< A function that was given to atexit does.
  std::map<FunctionId, Calls> Found;
  std::map<FunctionId, SourcePlace> Chosen; ///< Where something is freed.
};

/// The library's function that \p I calls; "": another one.
llvm::StringRef EndFinder::external(InstanceId In, const Instruction &I) const {
  if (I.Code != Op::Call || I.A == None)
    return "";
  Entity Callee = P.entity(All.visits().functionOf(In), I.A);
  return Callee.What == Entity::External ? llvm::StringRef(P.externals()[Callee.Id].Name) : "";
}

bool EndFinder::releases(InstanceId In, const Instruction &I) const {
  if (I.Code != Op::Call || I.A == None)
    return false;
  const FunctionInfo &F = All.visits().functionOf(In);
  ExternalEffect E = Known.effect(P.entity(F, I.A));
  if (E.What != Effect::Release || E.A < 0 || E.A >= I.ArgumentCount)
    return false;
  NodeId N = All.visits().node(In, F.Body->Arguments[I.FirstArgument + E.A]);
  return N != None && anyOf(All.graph().pointees(N),
                            [&](LocationId Each) { return What.moves(All.graph().at(Each).In); });
}

void EndFinder::findReleasing() {
  std::vector<InstanceId> Work;
  for (InstanceId In = 0; In != All.instances(); ++In)
    for (const Instruction &I : All.visits().functionOf(In).Body->Body)
      if (!Releasing.count(In) && releases(In, I)) {
        Releasing[In] = Say.place(All.visits().functionOf(In), I.Where);
        Work.push_back(In);
      }
  while (!Work.empty()) {
    InstanceId In = Work.back();
    Work.pop_back();
    for (size_t Each : All.to(In))
      if (InstanceId Caller = All.edges()[Each].Caller;
          Releasing.try_emplace(Caller, Releasing[In]).second)
        Work.push_back(Caller);
  }
}

/// Whether \p Free happens in each turn of its loop, in each call of a recursion, or in each call.
bool EndFinder::isSweep(InstanceId In, const Instruction &Free) const {
  const facts::Function &Body = *All.visits().functionOf(In).Body;
  bool IsRecursive = llvm::any_of(All.from(In), [&](size_t Each) {
    return All.functionOf(All.edges()[Each].Callee) == All.functionOf(In);
  });
  return IsRecursive || Free.Region == innermostLoop(Body, Free.Region);
}

/// What is freed, and each call on the way to it, without a choice.
bool EndFinder::sweeps(FunctionId Id) const {
  std::set<InstanceId> Tried;
  std::vector<InstanceId> Work;
  for (const auto &[In, Freed] : Releasing)
    if (All.functionOf(In) == Id && Tried.insert(In).second)
      Work.push_back(In);
  while (!Work.empty()) {
    InstanceId In = Work.back();
    Work.pop_back();
    for (const Instruction &I : All.visits().functionOf(In).Body->Body)
      if (releases(In, I) && isSweep(In, I))
        return true;
    for (size_t Each : All.from(In))
      if (const Edge &Call = All.edges()[Each]; Releasing.count(Call.Callee) &&
                                                isSweep(In, *Call.Call) &&
                                                Tried.insert(Call.Callee).second)
        Work.push_back(Call.Callee);
  }
  return false;
}

void EndFinder::findWriting() {
  std::vector<InstanceId> Work;
  for (InstanceId In = 0; In != All.instances(); ++In)
    if ((llvm::is_contained(Save, All.functionOf(In)) || When.opensToWrite(In)) &&
        Writing.insert(In).second)
      Work.push_back(In);
  while (!Work.empty()) {
    InstanceId In = Work.back();
    Work.pop_back();
    for (size_t Each : All.to(In))
      if (InstanceId Caller = All.edges()[Each].Caller; Writing.insert(Caller).second)
        Work.push_back(Caller);
  }
}

bool EndFinder::writes(FunctionId Id) const {
  return llvm::any_of(Writing, [&](InstanceId In) { return All.functionOf(In) == Id; });
}

/// Between \p Call and the end of its function, or of the program.
bool EndFinder::writesBehind(const Edge &Call) const {
  return WritesAtExit || llvm::any_of(All.from(Call.Caller), [&](size_t Each) {
           const Edge &Other = All.edges()[Each];
           return Other.Call > Call.Call && Writing.count(Other.Callee) != 0;
         });
}

/// Functions that are given to atexit.
void EndFinder::findHandlers() {
  for (InstanceId In = 0; In != All.instances(); ++In) {
    const FunctionInfo &F = All.visits().functionOf(In);
    for (const Instruction &I : F.Body->Body) {
      if (external(In, I) != "atexit" || !I.ArgumentCount)
        continue;
      std::set<Register> Behind = registersBehind(*F.Body, F.Body->Arguments[I.FirstArgument]);
      for (const Instruction &Taken : F.Body->Body)
        if (Taken.Code == Op::AddressOf && Behind.count(Taken.Dst))
          if (Entity Given = P.entity(F, Taken.A); Given.What == Entity::Function)
            Found[Given.Id].AtExit = true, WritesAtExit |= writes(Given.Id);
    }
  }
}

/// In main, in no loop, behind an answer or a loop, and with nothing behind it but more of the kind.
bool EndFinder::isLastOfMain(const Edge &Call) const {
  if (!All.to(Call.Caller).empty() || P.function(All.functionOf(Call.Caller)).Name != "main")
    return false;
  const facts::Function &Body = *All.visits().functionOf(Call.Caller).Body;
  if (innermostLoop(Body, Call.Call->Region) != 0)
    return false;
  bool Before = llvm::any_of(Body.Body, [&](const Instruction &I) {
    return &I < Call.Call && innermostLoop(Body, I.Region) != 0;
  });
  for (size_t Each : All.from(Call.Caller)) {
    const Edge &Other = All.edges()[Each];
    if (Other.Call < Call.Call)
      Before |= When.answers(Other.Callee);
    else if (Other.Call > Call.Call && When.changes(Other.Callee) && !Releasing.count(Other.Callee))
      return false;
    if (Other.Call > Call.Call && innermostLoop(Body, Other.Call->Region) != 0)
      return false;
  }
  return Before;
}

/// Behind \p Call, in its region or one around it, the process ends.
bool EndFinder::exitFollows(const Edge &Call) const {
  const facts::Function &Body = *All.visits().functionOf(Call.Caller).Body;
  return llvm::any_of(Body.Body, [&](const Instruction &I) {
    llvm::StringRef Name = &I > Call.Call ? external(Call.Caller, I) : "";
    return (Name == "exit" || Name == "_exit" || Name == "_Exit" || Name == "quick_exit") &&
           isWithin(Body, Call.Call->Region, I.Region) &&
           innermostLoop(Body, Call.Call->Region) == innermostLoop(Body, I.Region);
  });
}

bool EndFinder::makesNothing(FunctionId Id) const {
  std::set<InstanceId> Extent = All.extent({Id});
  for (ObjectId Each = 0; Each != All.graph().objects(); ++Each)
    if (const Object &Made = All.graph().object(Each);
        Made.Kind == ObjectKind::Heap && What.moves(Each) && Extent.count(Made.Made.In))
      return false;
  return true;
}

void EndFinder::sortCalls() {
  for (const Edge &Each : All.edges())
    if (Releasing.count(Each.Callee) && external(Each.Caller, *Each.Call) != "atexit") {
      Calls &Of = Found[All.functionOf(Each.Callee)];
      bool IsLast =
          Known.noReturn(All.functionOf(Each.Callee)) || isLastOfMain(Each) || exitFollows(Each);
      if (exitFollows(Each) && All.to(Each.Caller).empty() && Each.Call->Region != 0)
        IsLast = Known.noReturn(All.functionOf(Each.Callee)); // in a branch of main: a command
      if (IsLast && writesBehind(Each))
        continue; // it removes data, and saves what is left
      (IsLast ? Of.Last : Of.Others).push_back(Each);
    }
}

/// Called by functions of `end` alone. Nobody calls the function of a thread.
bool EndFinder::isWithinEnd(FunctionId Id) const {
  auto At = Found.find(Id);
  if (At == Found.end())
    return false;
  const Calls &Of = At->second;
  auto IsEnd = [&](const Edge &Each) { return Chosen.count(All.functionOf(Each.Caller)) != 0; };
  return !Of.AtExit && llvm::all_of(Of.Last, IsEnd) && llvm::all_of(Of.Others, IsEnd);
}

void EndFinder::choose(FunctionId Id, const Calls &Of) {
  auto In =
      llvm::find_if(Releasing, [&](const auto &Each) { return All.functionOf(Each.first) == Id; });
  if (In == Releasing.end() || (Of.Last.empty() && !Of.AtExit) || !makesNothing(Id) || writes(Id) ||
      !sweeps(Id))
    return;
  if (Of.Others.empty())
    return void(Chosen.try_emplace(Id, In->second));
  std::set<std::string> Others, Last;
  for (const Edge &Each : Of.Others)
    Others.insert(shown(Say.place(All.visits().functionOf(Each.Caller), Each.Call->Where)));
  bool Asks = Of.AtExit;
  for (const Edge &Each : Of.Last)
    if (FunctionId By = All.functionOf(Each.Caller);
        !Known.noReturn(By) || !makesNothing(By) || writes(By)) {
      Last.insert(shown(Say.place(All.visits().functionOf(Each.Caller), Each.Call->Where)));
      Asks = true;
    } else {
      Chosen.try_emplace(All.functionOf(Each.Caller), In->second);
    }
  if (Asks)
    Into.Questions.push_back(
        {Key::End,
         Say.function(Id) + " frees data (" + shown(In->second) + ") when the program ends" +
             (Last.empty() ? std::string(", by atexit") : " (" + listed(Last) + ")") +
             ", and at other times (" + listed(Others) +
             "); without an entry the pool is empty after a regular end",
         {"call a function of its own at the end, which calls " + Say.function(Id) +
              ", and add it to 'end'",
          "nothing, if the end is meant to remove the data"}});
}

std::vector<FunctionId> EndFinder::run() {
  findReleasing();
  findWriting();
  findHandlers();
  sortCalls();
  for (const auto &[Id, Of] : Found)
    if (Id != None && P.function(Id).Name != "main")
      choose(Id, Of);
  std::vector<FunctionId> Kept;
  for (const auto &[Id, Freed] : Chosen)
    if (!isWithinEnd(Id)) {
      Kept.push_back(Id);
      Into.End.push_back(
          {Say.function(Id), "frees data (" + shown(Freed) + ")", Say.definition(Id)});
    }
  return Kept;
}

} // namespace

std::vector<FunctionId> describeEnds(const Program &P, const Inference &Known,
                                     const Everything &All, const Moved &What, const Turns &When,
                                     llvm::ArrayRef<FunctionId> Save, Plan &Into) {
  return EndFinder(P, Known, All, What, When, Save, Into).run();
}

} // namespace nvmove::plan
