// See Scopes.h.
#include "plan/Scopes.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::plan {

constexpr size_t CleanMax = 8;   ///< Scopes in place of one that takes more along.
constexpr size_t TriedMax = 200; ///< Visits that are looked at for these.

Placement::Placement(const Everything &All, const Moved &What,
                     const std::map<FunctionId, Scope> &Scopes)
    : All(All), What(What), State(All.instances(), Nowhere) {
  std::vector<InstanceId> Work;
  auto Enter = [&](InstanceId In, uint8_t Inherited, const Edge *Via) {
    auto It = Scopes.find(All.functionOf(In));
    uint8_t Now = It == Scopes.end()                ? Inherited
                  : It->second == Scope::Persistent ? InPool
                  : It->second == Scope::Volatile   ? InDram
                  : Via                             ? beside(*Via)
                                                    : Inherited;
    if ((State[In] | Now) == State[In])
      return;
    State[In] |= Now;
    Work.push_back(In);
  };
  for (InstanceId In : All.entries())
    Enter(In, InDram, nullptr);
  while (!Work.empty()) {
    InstanceId In = Work.back();
    Work.pop_back();
    for (size_t Each : All.from(In))
      Enter(All.edges()[Each].Callee, State[In], &All.edges()[Each]);
  }
}

/// Where the first argument lies: a null pointer, or a variable, is no container in the pool.
uint8_t Placement::beside(const Edge &Call) const {
  const Visits &V = All.visits();
  uint8_t Found = Nowhere;
  if (Call.Call->ArgumentCount)
    if (NodeId N = V.node(Call.Caller,
                          V.functionOf(Call.Caller).Body->Arguments[Call.Call->FirstArgument]);
        N != None)
      for (LocationId Each : All.graph().pointees(N)) {
        ObjectId To = All.graph().at(Each).In;
        if (All.graph().object(To).isMemory())
          Found |= What.moves(To) ? InPool : InDram;
      }
  return Found ? Found : InDram;
}

Scopes::Scopes(const Program &P, const Everything &All, const Moved &What)
    : P(P), All(All), What(What) {
  for (ObjectId Id = 0; Id != All.graph().objects(); ++Id)
    if (const Object &Made = All.graph().object(Id);
        Made.Kind == ObjectKind::Heap && Made.Made.In < All.instances())
      MadeIn[Made.Made.In].push_back(Id);
  for (unsigned Guard = 0; Guard != 10000 && (coverOne() || releaseOne()); ++Guard)
    ;
  Placement Now(All, What, scopes());
  for (const auto &[In, Objects] : MadeIn)
    for (ObjectId Id : Objects)
      if ((What.moves(Id) && (Now.of(In) & InDram)) || (What.stays(Id) && (Now.of(In) & InPool)))
        Left.push_back(Id);
}

std::map<FunctionId, Scope> Scopes::scopes() const {
  std::map<FunctionId, Scope> Kinds;
  for (const auto &[Id, Which] : All_)
    Kinds[Id] = Which.Kind;
  return Kinds;
}

/// What would lie in the pool without need if calls of \p Id were a persistent scope, too.
Scopes::Cost Scopes::cost(FunctionId Id) const {
  std::map<FunctionId, Scope> With = scopes();
  With[Id] = Scope::Persistent;
  Placement Now(All, What, With);
  Cost Found;
  for (const auto &[In, Objects] : MadeIn)
    for (ObjectId Each : Objects)
      if (Now.of(In) & InPool) {
        Found.Wrong += What.stays(Each);
        Found.Idle += !What.moves(Each);
      }
  return Found;
}

/// True when the first argument says of each call of \p Id whether what it makes moves.
bool Scopes::tellsApart(FunctionId Id) const {
  const FunctionInfo &F = P.function(Id);
  if (!F.Body->ParameterCount || !F.parameter(0).Pointers)
    return false;
  std::map<FunctionId, Scope> With = scopes();
  With[Id] = Scope::Beside;
  Placement Now(All, What, With);
  for (const auto &[In, Objects] : MadeIn)
    if (All.functionOf(In) == Id)
      for (ObjectId Each : Objects)
        if ((What.moves(Each) && Now.of(In) != InPool) ||
            (What.stays(Each) && Now.of(In) != InDram))
          return false;
  return true;
}

bool Scopes::add(FunctionId Id, Scope Kind, ObjectId For) {
  auto [It, New] = All_.try_emplace(Id, Chosen{Kind, {}});
  It->second.For.insert(For);
  return New;
}

/// The lowest functions around \p In, one on each way to it, whose calls make only what moves; added
/// to \p Found. False: on some way there is none, or there are too many.
bool Scopes::cleanAbove(InstanceId In, Cost Before, std::set<InstanceId> &Tried,
                        std::set<FunctionId> &Found) const {
  FunctionId Id = All.functionOf(In);
  if (!Tried.insert(In).second || Found.count(Id))
    return true;
  if (P.function(Id).Body->Symbol == None || All.to(In).empty() || Tried.size() > TriedMax)
    return false;
  if (Cost With = cost(Id); With.Wrong <= Before.Wrong && With.Idle <= Before.Idle) {
    Found.insert(Id);
    return Found.size() <= CleanMax;
  }
  return llvm::all_of(All.to(In), [&](size_t Each) {
    return cleanAbove(All.edges()[Each].Caller, Before, Tried, Found);
  });
}

/// In this order: functions that make only what moves; the container's side; the maker, if it makes
/// nothing that has to stay.
bool Scopes::cover(InstanceId In, ObjectId For) {
  FunctionId Maker = All.functionOf(In);
  if (All_.count(Maker) || P.function(Maker).Body->Symbol == None)
    return false;
  Cost Before = cost(None);
  std::set<InstanceId> Tried;
  std::set<FunctionId> Clean;
  if (cleanAbove(In, Before, Tried, Clean)) {
    bool Added = false;
    for (FunctionId Id : Clean)
      Added |= add(Id, Scope::Persistent, For);
    return Added;
  }
  if (tellsApart(Maker))
    return add(Maker, Scope::Beside, For);
  return cost(Maker).Wrong <= Before.Wrong && add(Maker, Scope::Persistent, For);
}

/// Adds a scope for one moving object that is in DRAM. False: there is none, or none can be helped.
bool Scopes::coverOne() {
  Placement Now(All, What, scopes());
  for (const auto &[In, Objects] : MadeIn)
    for (ObjectId Id : Objects) {
      if (!What.moves(Id) || !(Now.of(In) & InDram) || GivenUp.count(Id))
        continue;
      if (cover(In, Id))
        return true;
      // No function around it makes only what moves: the nearest is taken, and others are kept out.
      // (Not for bytes: where they are linked after all, the commit says so.)
      if (FunctionId Maker = All.functionOf(In);
          !All_.count(Maker) && !All.graph().object(Id).Types.empty())
        return add(Maker, Scope::Persistent, Id);
      GivenUp.insert(Id);
    }
  return false;
}

/// Adds a scope for one object that stays and is in the pool.
bool Scopes::releaseOne() {
  Placement Now(All, What, scopes());
  for (const auto &[In, Objects] : MadeIn)
    for (ObjectId Id : Objects) {
      if (!What.stays(Id) || !(Now.of(In) & InPool) || GivenUp.count(Id))
        continue;
      FunctionId Maker = All.functionOf(In);
      std::set<InstanceId> Within = All.extent({Maker});
      bool Pure = !All_.count(Maker) && llvm::none_of(Within, [&](InstanceId Each) {
        auto Made = MadeIn.find(Each);
        return Made != MadeIn.end() &&
               llvm::any_of(Made->second, [&](ObjectId O) { return What.moves(O); });
      });
      if (Pure)
        return add(Maker, Scope::Volatile, Id);
      GivenUp.insert(Id);
    }
  return false;
}

} // namespace nvmove::plan
