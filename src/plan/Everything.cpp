// See Everything.h.
#include "plan/Everything.h"

#include "solve/Heuristics.h"

namespace nvmove::plan {

Everything::Everything(const Program &P, const Inference &Known, const FunctionFlow &Flow,
                       uint64_t StepsMax)
    : P(P), Known(Known), Flow(Flow), V(P, Known, Flow, StepsMax, Cloning::Makers), Kept(V),
      Sources(P, Known, Flow, V, Kept), Effects(P, Known, V, Kept, Sources) {}

bool Everything::visit(FunctionId Main) {
  V.graph().setComplete();
  V.enterInitialisers();
  V.enterLoad(Main);
  bool Done = true, Changed = true;
  for (unsigned Round = 0; Round != RoundsMax && Changed && Done; ++Round) {
    Done = V.graph().run();
    Kept.refresh();
    Changed = false;
    for (size_t I = 0; I != V.calls().size(); ++I)
      Changed |= consider(V.calls()[I]);
  }
  index();
  return Done && !Changed;
}

bool Everything::follow(PendingCall &Call, FunctionId Target) {
  if (!Call.Followed.insert(Target).second)
    return false;
  InstanceId Callee = V.enter(Target, {Call.In, Call.Call}, /*Contact=*/true, /*Removed=*/0);
  V.link(Call, Callee);
  Edges.push_back({Call.In, Callee, Call.Call});
  return true;
}

/// A thread is a call of the function that is handed over.
bool Everything::startThread(PendingCall &Call, const ExternalEffect &E) {
  bool Changed = false;
  NodeId Callee = V.argumentNode(Call, E.A), Given = V.argumentNode(Call, E.B);
  if (Callee == None)
    return false;
  for (LocationId Each : V.graph().snapshot(Callee)) {
    const Object &What = V.graph().object(V.graph().at(Each).In);
    if (What.Kind != ObjectKind::Function || !Call.Followed.insert(What.Id).second)
      continue;
    InstanceId Started = V.enter(What.Id, {Call.In, Call.Call}, /*Contact=*/true, /*Removed=*/0);
    if (Given != None && P.function(What.Id).Body->ParameterCount)
      V.graph().addEdge(Given, V.node(Started, 0));
    Changed = true; // No edge: what it makes is not made while its starter runs.
  }
  return Changed;
}

/// A library calls what it is given with whatever else it is given.
bool Everything::callBack(PendingCall &Call) {
  bool Changed = false;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I) {
    NodeId N = V.argumentNode(Call, I);
    if (N == None)
      continue;
    for (LocationId Each : V.graph().snapshot(N)) {
      const Object &What = V.graph().object(V.graph().at(Each).In);
      if (What.Kind != ObjectKind::Function || Known.noReturn(What.Id) ||
          !Call.Followed.insert(What.Id).second)
        continue;
      InstanceId Callee = V.enter(What.Id, {Call.In, Call.Call}, /*Contact=*/true, /*Removed=*/0);
      const FunctionInfo &F = P.function(What.Id);
      for (unsigned To = 0; To != F.Body->ParameterCount; ++To)
        for (int From = 0; F.parameter(To).Pointers && From != Call.Call->ArgumentCount; ++From)
          if (NodeId Given = V.argumentNode(Call, From); Given != None)
            V.graph().addEdge(Given, V.node(Callee, To));
      Edges.push_back({Call.In, Callee, Call.Call});
      Changed = true;
    }
  }
  return Changed;
}

bool Everything::considerOutside(PendingCall &Call, const ExternalEffect &E) {
  if (E.What == Effect::Start)
    return startThread(Call, E);
  if (E.What == Effect::Open || E.What == Effect::OpenAt)
    return false; // There is no input here.
  bool Changed =
      E.What != Effect::Unknown ? Effects.apply(Call, E) : Effects.applyGeneralRule(Call);
  bool Calls = E.What == Effect::Unknown || E.What == Effect::Nothing;
  return (Calls && callBack(Call)) || Changed;
}

std::set<FunctionId> Everything::targets(const PendingCall &Call,
                                         std::set<ExternalId> &Outside) const {
  std::set<FunctionId> Found;
  const facts::Register Callee = Call.Call->B;
  if (NodeId N = V.node(Call.In, Callee); N != None)
    for (LocationId Each : V.graph().pointees(N)) {
      const Object &What = V.graph().object(V.graph().at(Each).In);
      if (What.Kind == ObjectKind::Function)
        Found.insert(What.Id);
      else if (What.Kind == ObjectKind::External)
        Outside.insert(What.Id);
    }
  FunctionId In = V.instance(Call.In).Function;
  if (Found.empty() && Outside.empty() && Callee != None && Callee != facts::NullRegister)
    for (FunctionId Each : Flow.at(In, Callee))
      Found.insert(Each);
  if (Found.empty() && Outside.empty() && Call.Call->Ty != None && !Flow.knowsTable(In, Callee))
    for (FunctionId Each : Flow.bySignature(V.functionOf(Call.In).View->Signatures[Call.Call->Ty]))
      Found.insert(Each);
  return Found;
}

bool Everything::consider(PendingCall &Call) {
  std::set<ExternalId> Outside;
  std::set<FunctionId> Inside;
  if (Call.Call->A == None) {
    Inside = targets(Call, Outside);
  } else {
    Entity Callee = P.entity(V.functionOf(Call.In), Call.Call->A);
    if (Callee.What == Entity::Function)
      Inside.insert(Callee.Id);
    else if (Callee.What == Entity::External)
      Outside.insert(Callee.Id);
  }
  bool Changed = false;
  for (FunctionId Each : Inside) {
    const ExternalEffect &E = Known.standsFor(Each);
    bool Allocates = E.What == Effect::Allocate || E.What == Effect::Resize;
    Changed |= Allocates ? Effects.apply(Call, E) : follow(Call, Each);
  }
  for (ExternalId Each : Outside)
    Changed |= considerOutside(Call, Known.effect({Entity::External, Each}));
  return Changed;
}

void Everything::index() {
  for (const Edge &Each : Edges)
    Count = std::max<size_t>({Count, Each.Caller + 1, Each.Callee + 1});
  for (const PendingCall &Call : V.calls())
    Count = std::max<size_t>(Count, Call.In + 1);
  Outgoing.resize(Count);
  Incoming.resize(Count);
  for (size_t I = 0; I != Edges.size(); ++I) {
    Outgoing[Edges[I].Caller].push_back(I);
    Incoming[Edges[I].Callee].push_back(I);
  }
}

std::set<InstanceId> Everything::extent(llvm::ArrayRef<FunctionId> Ids) const {
  std::set<InstanceId> Found;
  std::vector<InstanceId> Work;
  for (InstanceId In = 0; In != Count; ++In)
    if (std::find(Ids.begin(), Ids.end(), functionOf(In)) != Ids.end() && Found.insert(In).second)
      Work.push_back(In);
  while (!Work.empty()) {
    InstanceId In = Work.back();
    Work.pop_back();
    for (size_t Each : from(In))
      if (Found.insert(Edges[Each].Callee).second)
        Work.push_back(Edges[Each].Callee);
  }
  return Found;
}

std::vector<InstanceId> Everything::entries() const {
  std::vector<InstanceId> Found;
  for (InstanceId In = 0; In != Count; ++In)
    if (to(In).empty())
      Found.push_back(In);
  return Found;
}

std::set<InstanceId> Everything::reached(llvm::function_ref<bool(InstanceId)> Skip) const {
  std::vector<InstanceId> Work = entries();
  std::set<InstanceId> Found(Work.begin(), Work.end());
  while (!Work.empty()) {
    InstanceId In = Work.back();
    Work.pop_back();
    for (size_t Each : from(In))
      if (InstanceId Callee = Edges[Each].Callee; !Skip(Callee) && Found.insert(Callee).second)
        Work.push_back(Callee);
  }
  return Found;
}

} // namespace nvmove::plan
