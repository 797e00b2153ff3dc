// See CallSelection.h.
#include "solve/reach/CallSelection.h"

#include "solve/Heuristics.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

using facts::Instruction;
using facts::Op;
using facts::Register;

/// "lookup(file, &value, "player%d", n)" is no logging: it is given the handle and says whether it
/// found something. "complain(parser, "no such entity %s", name)" is: it gives nothing back.
bool CallSelection::isLogging(const PendingCall &Call, const Entity &Callee) const {
  if (!Known.isLogging(Callee))
    return false;
  bool Mute = false;
  if (Callee.What == Entity::Function) {
    const Shape &Result = P.function(Callee.Id).result();
    Mute = Result.What == Core::Void && Result.Pointers == 0;
  }
  return Mute || !Kept.carriesHandle(Call);
}

bool CallSelection::consider(PendingCall &Call) {
  if (Call.Call->A == None)
    return considerIndirect(Call);
  return considerDirect(Call, P.entity(V.functionOf(Call.In), Call.Call->A));
}

bool CallSelection::considerDirect(PendingCall &Call, Entity Callee) {
  Call.Resolved = true;
  if (Known.neverReturns(Callee))
    return false;
  ExternalEffect Effect = Known.effect(Callee);
  if (Effect.What != Effect::Unknown)
    return Effects.apply(Call, Effect);
  if (isLogging(Call, Callee))
    return false;
  if (Callee.What == Entity::External)
    return Effects.applyGeneralRule(Call);
  return Callee.What == Entity::Function && follow(Call, Callee.Id, /*Direct=*/true);
}

/// Of the targets of an indirect call, those that the zone itself has put into the object whose
/// method is called; the others are guesses for older objects.
std::set<FunctionId> CallSelection::storedTargets(const PendingCall &Call) const {
  std::set<FunctionId> Found;
  const facts::Function &Body = *V.functionOf(Call.In).Body;
  std::set<Register> Behind = registersBehind(Body, Call.Call->B);
  for (const Instruction &I : Body.Body) {
    if (I.Code != Op::Load || !Behind.count(I.Dst) || V.node(Call.In, I.A) == None)
      continue;
    for (LocationId Each : Graph.pointees(V.node(Call.In, I.A))) {
      const Object &Table = Graph.object(Graph.at(Each).In);
      auto Cell = Table.Cells.find(Graph.at(Each).Offset);
      if (Table.Kind != ObjectKind::Heap || Cell == Table.Cells.end())
        continue;
      for (LocationId Held : Graph.pointees(Cell->second))
        if (const Object &What = Graph.object(Graph.at(Held).In); What.Kind == ObjectKind::Function)
          Found.insert(What.Id);
    }
  }
  return Found;
}

bool CallSelection::considerIndirect(PendingCall &Call) {
  const FunctionInfo &F = V.functionOf(Call.In);
  std::set<FunctionId> Targets;
  std::set<ExternalId> Outside;
  if (NodeId Callee = V.node(Call.In, Call.Call->B); Callee != None)
    for (LocationId Each : Graph.pointees(Callee)) {
      const Object &What = Graph.object(Graph.at(Each).In);
      if (What.Kind == ObjectKind::Function)
        Targets.insert(What.Id);
      else if (What.Kind == ObjectKind::External)
        Outside.insert(What.Id);
    }
  if (Targets.empty() && Outside.empty() && Call.Call->B != None &&
      Call.Call->B != facts::NullRegister)
    for (FunctionId Each : Flow.at(V.instance(Call.In).Function, Call.Call->B))
      Targets.insert(Each);
  if (Targets.empty() && Outside.empty() && Call.Call->Ty != None &&
      !Flow.knowsTable(V.instance(Call.In).Function, Call.Call->B))
    for (FunctionId Each : Flow.bySignature(F.View->Signatures[Call.Call->Ty]))
      Targets.insert(Each);
  bool Changed = false;
  Call.Resolved |=
      Call.Call->B != None && Flow.knowsTable(V.instance(Call.In).Function, Call.Call->B);
  Call.Resolved |= !Targets.empty() || !Outside.empty();
  if (Targets.size() > FewTargets)
    if (std::set<FunctionId> Own = storedTargets(Call); !Own.empty() && Own.size() <= FewTargets)
      Targets = Own;
  if (Targets.size() > FewTargets &&
      !Kept.carriesInput(Call, Targets.size() > SomeTargets ? Look::Event : Look::First))
    return false;
  for (FunctionId Each : Targets) {
    if (Known.noReturn(Each) || Known.formats(Each))
      continue;
    if (ExternalEffect Effect = Known.standsFor(Each); Effect.What != Effect::Unknown)
      Changed |= Effects.apply(Call, Effect);
    else
      Changed |= follow(Call, Each, /*Direct=*/false);
  }
  for (ExternalId Each : Outside) {
    ExternalEffect Effect = Known.effect({Entity::External, Each});
    Changed |= Effect.What != Effect::Unknown ? Effects.apply(Call, Effect)
                                              : Effects.applyGeneralRule(Call);
  }
  return Changed;
}

/// True when a call of \p Id gives its caller a pointer: its result, what it stores in a local, or
/// what it makes and stores where it is told to.
bool CallSelection::gives(const PendingCall &Call, FunctionId Id) const {
  const FunctionInfo &F = P.function(Id);
  if (F.result().Pointers && !Call.Call->Implicit)
    return true;
  if (Call.Call->A == None)
    return false;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (NodeId N = V.argumentNode(Call, I); N != None)
      for (LocationId Each : Graph.pointees(N))
        if (const Object &What = Graph.object(Graph.at(Each).In);
            What.Kind == ObjectKind::Stack && What.Type.Pointers)
          return true;
  return Known.makesBehind(Id);
}

/// A constructor that takes no object: numbers, names and hooks are about what it makes.
bool CallSelection::makesOnly(const FunctionInfo &F) const {
  if (!F.result().isPointerTo(Core::Record))
    return false;
  for (unsigned I = 0; I != F.Body->ParameterCount; ++I)
    if (const Shape &Each = F.parameter(I);
        Each.Pointers && Each.What != Core::Char && Each.What != Core::Function)
      return false;
  return true;
}

/// How far \p Target is from the input when \p Call leads to it. One that reads through globals is
/// there; a call that is given nothing is neither nearer nor further than its caller.
unsigned CallSelection::removed(const PendingCall &Call, FunctionId Target, bool Contact,
                                Look How) const {
  bool Nothing = !Call.Call->ArgumentCount;
  if (Sources.isAtInput(Target, Nothing) || Kept.carriesInput(Call, How))
    return 0;
  bool One = Contact || makesOnly(P.function(Target));
  return V.instance(Call.In).Removed + (Nothing ? 0 : One ? 1 : 2);
}

/// True when a global variable is as good as an argument: \p Target allocates what its caller keeps
/// there, or is an action of the parser that calls it, on what the parser has made.
bool CallSelection::sharesGlobal(const PendingCall &Call, FunctionId Target) const {
  std::set<GlobalId> Made = Known.setsUp(Target);
  if (!Made.empty() && llvm::is_contained(V.loads(), Call.In))
    return true;
  if (Call.Call->ArgumentCount)
    return false;
  if (llvm::any_of(Sources.globalsUsed(V.instance(Call.In).Function),
                   [&](GlobalId Each) { return Made.count(Each); }))
    return true;
  bool Near = !V.instance(Call.In).Removed;
  return Near && V.functionOf(Call.In).View == P.function(Target).View &&
         llvm::any_of(Sources.globalsUsed(Target),
                      [&](GlobalId Each) { return Kept.keepsMade(Each); });
}

/// True when \p Call is given state into which its caller puts input afterwards, through a pointer
/// that the state holds, or by another call that is given input beside it.
bool CallSelection::preparesState(const PendingCall &Call, FunctionId Target) {
  if (!Known.mayAllocate(Target))
    return false;
  const FunctionInfo &F = V.functionOf(Call.In);
  const SharedState &Shared = States.try_emplace(V.instance(Call.In).Function, F).first->second;
  auto Puts = [&](const Instruction &Use, uint32_t State) {
    if (Use.Code == Op::Store || Use.Code == Op::CopyObject)
      return Shared.isBehind(Use.A) && Kept.bringsInput(Call.In, Use.B);
    bool Own = Use.A == None || P.entity(F, Use.A).What == Entity::Function;
    bool Given = false, Input = false;
    for (unsigned A = 0; A != Use.ArgumentCount; ++A) {
      Register R = F.Body->Arguments[Use.FirstArgument + A];
      if (Shared.state(R) == State)
        Given |= Own || Shared.isBehind(R);
      else
        Input = Input || Kept.bringsInput(Call.In, R);
    }
    return Given && Input;
  };
  for (int I = 0; I != Call.Call->ArgumentCount; ++I) {
    Register R = V.argument(Call, I);
    uint32_t State = Shared.state(R);
    bool Address = State != None && F.Body->Registers[R] == None; // Of a variable.
    if (State == None || !(Address || F.shapeOf(F.Body->Registers[R]).Pointers))
      continue;
    if (llvm::any_of(Shared.users(State), [&](const Instruction *Use) {
          return Use != Call.Call && Shared.follows(*Use, *Call.Call) && Puts(*Use, State);
        }))
      return true;
  }
  return false;
}

bool CallSelection::follow(PendingCall &Call, FunctionId Target, bool Direct) {
  if (Call.Followed.count(Target)) {
    bool Contact = Kept.contact(Call); // Input may have come to where there was none.
    V.enter(Target, {Call.In, Call.Call}, Contact, removed(Call, Target, Contact, Look::Again));
    return Effects.fillParameters(Call, Target);
  }
  bool Contact = Kept.contact(Call);
  if (!Contact) {
    bool Wanted = Sources.leadsToInput(Target) ||
                  (Direct && (gives(Call, Target) || sharesGlobal(Call, Target))) ||
                  (!Direct && gives(Call, Target) && makesOnly(P.function(Target))) ||
                  preparesState(Call, Target);
    if (!Wanted)
      return false;
    if (V.instance(Call.In).Contactless >= ContactlessMax) {
      BoundHit = true;
      return false;
    }
  }
  unsigned Removed = removed(Call, Target, Contact, Look::First);
  if (Removed > RemovedMax) {
    BoundHit = true;
    return false;
  }
  Call.Followed.insert(Target);
  V.link(Call, V.enter(Target, {Call.In, Call.Call}, Contact, Removed));
  return true;
}

} // namespace nvmove::solve
