// See Scopes.h.
#include "plan/Scopes.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::plan {

constexpr size_t CleanMax = 8;   ///< Scopes in place of one that takes more along.
constexpr size_t TriedMax = 200; ///< Visits that are looked at for these.
constexpr unsigned RoundsMax = 10000;

Placement::Placement(const Everything &All, const Moved &What, const Assignments &Assigned,
                     const std::map<ScopeId, Scope> &Scopes)
    : All(All), What(What), Assigned(Assigned), Scopes(Scopes), State(All.instances(), Nowhere) {
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
    for (size_t Each : All.from(In)) {
      const Edge &Call = All.edges()[Each];
      Enter(Call.Callee, around(Call.Call, State[In]), &Call);
    }
  }
}

/// The scope of what the call's result is assigned to, if there is one, is nearer.
uint8_t Placement::around(const facts::Instruction *Call, uint8_t Outer) const {
  ScopeId Place = Assigned.of(Call);
  auto It = Place == None ? Scopes.end() : Scopes.find(Place);
  return It == Scopes.end() ? Outer : It->second == Scope::Persistent ? InPool : InDram;
}

Places Placement::of(const Object &Made) const {
  uint8_t Outer = Made.Made.In < State.size() ? State[Made.Made.In] : InDram;
  return static_cast<Places>(around(Made.Made.At, Outer));
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
    : P(P), All(All), What(What), Assigned(P), Say(P) {
  for (ObjectId Id = 0; Id != All.graph().objects(); ++Id)
    if (const Object &Made = All.graph().object(Id);
        Made.Kind == ObjectKind::Heap && Made.Made.At && Made.Made.In < All.instances())
      Heap.push_back(Id);
  for (unsigned Guard = 0; Guard != RoundsMax && (coverOne() || releaseOne()); ++Guard)
    ;
  std::map<ScopeId, Scope> Kinds = scopes();
  Placement Now(All, What, Assigned, Kinds);
  for (ObjectId Id : Heap)
    if (isMisplaced(Now, Id))
      Left.push_back(Id);
}

std::string Scopes::name(ScopeId Id) const {
  return Assigned.isFunction(Id) ? Say.function(Id) : Assigned.name(Id);
}

bool Scopes::isMisplaced(const Placement &Now, ObjectId Id) const {
  Places Where = Now.of(All.graph().object(Id));
  return (What.moves(Id) && (Where & InDram)) || (What.stays(Id) && (Where & InPool));
}

std::map<ScopeId, Scope> Scopes::scopes() const {
  std::map<ScopeId, Scope> Kinds;
  for (const auto &[Id, Which] : Picked)
    Kinds[Id] = Which.Kind;
  return Kinds;
}

/// What would lie in the pool without need if \p Id were a persistent scope, too.
Scopes::Cost Scopes::cost(ScopeId Id) const {
  std::map<ScopeId, Scope> With = scopes();
  With[Id] = Scope::Persistent;
  Placement Now(All, What, Assigned, With);
  Cost Found;
  for (ObjectId Each : Heap)
    if (Now.of(All.graph().object(Each)) & InPool) {
      Found.Wrong += What.stays(Each);
      Found.Idle += !What.moves(Each);
    }
  return Found;
}

bool Scopes::isClean(ScopeId Id, Cost Before) const {
  Cost With = cost(Id);
  return With.Wrong <= Before.Wrong && With.Idle <= Before.Idle;
}

/// True when the first argument says of each call of \p Id whether what it makes moves.
bool Scopes::tellsApart(FunctionId Id) const {
  const FunctionInfo &F = P.function(Id);
  if (!F.Body->ParameterCount || !F.parameter(0).Pointers)
    return false;
  std::map<ScopeId, Scope> With = scopes();
  With[Id] = Scope::Beside;
  Placement Now(All, What, Assigned, With);
  return llvm::none_of(Heap, [&](ObjectId Each) {
    return All.functionOf(All.graph().object(Each).Made.In) == Id && isMisplaced(Now, Each);
  });
}

bool Scopes::add(ScopeId Id, Scope Kind, ObjectId For) {
  auto [It, New] = Picked.try_emplace(Id, Chosen{Kind, {}});
  It->second.For.insert(For);
  return New;
}

/// The lowest scopes around \p Call, one on each way to it, that take only what moves; added to
/// \p Found. False: on some way there is none, or there are too many.
bool Scopes::cleanAbove(Site Call, Cost Before, std::set<InstanceId> &Tried,
                        std::set<ScopeId> &Found) const {
  FunctionId Id = All.functionOf(Call.In);
  ScopeId Place = Assigned.of(Call.At);
  if (Found.count(Id) || Found.count(Place))
    return true;
  bool Body = P.function(Id).Body->Symbol != None;
  for (ScopeId Each : {Id, Place})
    if (Each != None && (Body || Each == Place) && isClean(Each, Before)) {
      Found.insert(Each);
      return Found.size() <= CleanMax;
    }
  if (!Body || All.to(Call.In).empty() || Tried.size() > TriedMax)
    return false;
  if (!Tried.insert(Call.In).second)
    return true;
  return llvm::all_of(All.to(Call.In), [&](size_t Each) {
    const Edge &Via = All.edges()[Each];
    return cleanAbove({Via.Caller, Via.Call}, Before, Tried, Found);
  });
}

/// In this order: scopes that take only what moves; the container's side; the maker, if it makes
/// nothing that has to stay.
bool Scopes::cover(ObjectId For) {
  Site Made = All.graph().object(For).Made;
  FunctionId Maker = All.functionOf(Made.In);
  if (Picked.count(Maker) || P.function(Maker).Body->Symbol == None)
    return false;
  Cost Before = cost(None);
  std::set<InstanceId> Tried;
  std::set<ScopeId> Clean;
  if (cleanAbove(Made, Before, Tried, Clean)) {
    bool Added = false;
    for (ScopeId Id : Clean)
      Added |= add(Id, Scope::Persistent, For);
    return Added;
  }
  if (tellsApart(Maker))
    return add(Maker, Scope::Beside, For);
  return cost(Maker).Wrong <= Before.Wrong && add(Maker, Scope::Persistent, For);
}

/// Adds a scope for one moving object that is in DRAM. False: there is none, or none can be helped.
bool Scopes::coverOne() {
  std::map<ScopeId, Scope> Kinds = scopes();
  Placement Now(All, What, Assigned, Kinds);
  for (ObjectId Id : Heap) {
    const Object &Made = All.graph().object(Id);
    if (!What.moves(Id) || !(Now.of(Made) & InDram) || GivenUp.count(Id))
      continue;
    if (cover(Id))
      return true;
    // No scope around it takes only what moves: the nearest is taken, and others are kept out. (Not for
    // bytes: where they are linked after all, the commit says so.)
    if (FunctionId Maker = All.functionOf(Made.Made.In);
        !Picked.count(Maker) && !Made.Types.empty())
      return add(Maker, Scope::Persistent, Id);
    GivenUp.insert(Id);
  }
  return false;
}

/// Adds a scope for one object that stays and is in the pool.
bool Scopes::releaseOne() {
  std::map<ScopeId, Scope> Kinds = scopes();
  Placement Now(All, What, Assigned, Kinds);
  for (ObjectId Id : Heap) {
    const Object &Made = All.graph().object(Id);
    if (!What.stays(Id) || !(Now.of(Made) & InPool) || GivenUp.count(Id))
      continue;
    FunctionId Maker = All.functionOf(Made.Made.In);
    std::set<InstanceId> Within = All.extent({Maker});
    bool Pure = !Picked.count(Maker) && llvm::none_of(Heap, [&](ObjectId Each) {
      return What.moves(Each) && Within.count(All.graph().object(Each).Made.In);
    });
    if (Pure)
      return add(Maker, Scope::Volatile, Id);
    GivenUp.insert(Id);
  }
  return false;
}

} // namespace nvmove::plan
