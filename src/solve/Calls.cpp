// Which calls are followed. See Zone.h.
#include "solve/Heuristics.h"
#include "solve/Zone.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

using facts::Instruction;
using facts::Register;

namespace {} // namespace

Register Zone::argument(const PendingCall &Call, int Number) const {
  if (Number < 0 || Number >= Call.Call->ArgumentCount)
    return None;
  return functionOf(Call.In).Body->Arguments[Call.Call->FirstArgument + Number];
}

NodeId Zone::argumentNode(const PendingCall &Call, int Number) const {
  return node(Call.In, argument(Call, Number));
}

NodeId Zone::resultNode(const PendingCall &Call) const { return node(Call.In, Call.Call->Dst); }

size_t Zone::argumentSize(const PendingCall &Call) const {
  size_t Size = 1;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (NodeId N = argumentNode(Call, I); N != None)
      for (LocationId Each : Graph.pointees(N)) {
        ObjectId In = Graph.at(Each).In;
        Size += 1 + content(In).Input + content(In).Handle;
      }
  return Size;
}

bool Zone::contact(NodeId N) const {
  if (N == None)
    return false;
  for (LocationId Each : Graph.pointees(N)) {
    ObjectId In = Graph.at(Each).In;
    const Object &What = Graph.object(In);
    const Content &Kept = content(In);
    switch (What.Kind) {
    case ObjectKind::Input:
    case ObjectKind::Handle:
    case ObjectKind::Heap:
    case ObjectKind::Mapped:
    case ObjectKind::Size: // Memory for a record is asked for.
      return true;
    case ObjectKind::Stack:
      if (Kept.Input || Kept.Handle || Kept.Fresh)
        return true;
      break;
    case ObjectKind::Global:
    case ObjectKind::Pre:
      if (Kept.Handle)
        return true;
      break;
    default:
      break;
    }
  }
  return false;
}

bool Zone::contact(const PendingCall &Call) const {
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (contact(argumentNode(Call, I)))
      return true;
  return false;
}

/// True when the handle, or what holds it, is handed over.
bool Zone::carriesHandle(const PendingCall &Call) const {
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (NodeId N = argumentNode(Call, I); N != None)
      for (LocationId Each : Graph.pointees(N))
        if (Each == Graph.handle() || content(Graph.at(Each).In).Source)
          return true;
  return false;
}

/// "lookup(file, &value, "player%d", n)" is no logging: it is given the handle and says whether it
/// found something. "complain(parser, "no such entity %s", name)" is: it gives nothing back.
bool Zone::isLogging(const PendingCall &Call, const Entity &Callee) const {
  if (!Known.isLogging(Callee))
    return false;
  bool Mute = false;
  if (Callee.What == Entity::Function) {
    const Shape &Result = P.function(Callee.Id).result();
    Mute = Result.What == Core::Void && Result.Pointers == 0;
  }
  return Mute || !carriesHandle(Call);
}

/// True when the handle, input, or what holds one of them is handed over. Numbers do not count: of
/// those that a caller has, most were read from what is built already. A pointer that is nothing
/// but input leads into a document that the program holds in memory. An \p Event needs more than a
/// record that some input was put in, or to be given no pointer at all, and a caller at the input.
/// On a look Again only what was staged on the stack counts: much of what is on the heap is linked
/// by functions that are visited later.
bool Zone::carriesInput(const PendingCall &Call, Look How) const {
  bool Near = !Instances[Call.In].Removed;
  bool Event = How == Look::Event;
  if (Event && !Near)
    return false;
  bool Pointers = false;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I) {
    NodeId N = argumentNode(Call, I);
    if (N == None)
      continue;
    bool Input = false, Memory = false;
    for (LocationId Each : Graph.pointees(N)) {
      ObjectId In = Graph.at(Each).In;
      const Content &Kept = content(In);
      bool Stacked = Graph.object(In).Kind == ObjectKind::Stack;
      if (Each == Graph.handle() ||
          (Event ? Kept.Source && (!Graph.object(In).isOlder() || Kept.Handle)
                 : Kept.Source || (Kept.Staged && (How == Look::First || Stacked))) ||
          (Event && Graph.filled().count(In)))
        return true;
      Input |= Each == Graph.input();
      Memory |= Graph.object(In).isMemory();
    }
    const FunctionInfo &F = functionOf(Call.In);
    bool Pointer = F.shapeOf(F.Body->Registers[argument(Call, I)]).Pointers && !Memory;
    if (Input && Near && Pointer)
      return true;
    Pointers |= Pointer || Memory;
  }
  return Event && !Pointers;
}

/// A program may try several opens, one wrapper deep: the nearest and its neighbours count.
bool Zone::isTheInput(const PendingCall &Call) const {
  unsigned Far = Distance[Instances[Call.In].Function];
  return !InputGiven && (NearestOpen == ~0u || Far == ~0u || Far <= NearestOpen + 1);
}

bool Zone::leadsToInput(FunctionId Id) const { return OnTheWay[Id] || ReadsInputGlobal[Id]; }

bool Zone::consider(PendingCall &Call) {
  if (Call.Call->A == None)
    return considerIndirect(Call);
  return considerDirect(Call, P.entity(functionOf(Call.In), Call.Call->A));
}

bool Zone::considerDirect(PendingCall &Call, Entity Callee) {
  Call.Resolved = true;
  if (Known.neverReturns(Callee))
    return false;
  ExternalEffect Effect = Known.effect(Callee);
  if (Effect.What != Effect::Unknown)
    return applyEffect(Call, Effect);
  if (isLogging(Call, Callee))
    return false;
  if (Callee.What == Entity::External)
    return generalRule(Call, Callee.Id);
  return Callee.What == Entity::Function && follow(Call, Callee.Id, /*Direct=*/true);
}

/// Of the targets of an indirect call, those that the zone itself has put into the object whose
/// method is called; the others are guesses for older objects.
std::set<FunctionId> Zone::storedTargets(const PendingCall &Call) const {
  std::set<FunctionId> Found;
  const facts::Function &Body = *functionOf(Call.In).Body;
  std::set<Register> Behind = registersBehind(Body, Call.Call->B);
  for (const Instruction &I : Body.Body) {
    if (I.Code != facts::Op::Load || !Behind.count(I.Dst) || node(Call.In, I.A) == None)
      continue;
    for (LocationId Each : Graph.pointees(node(Call.In, I.A))) {
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

bool Zone::considerIndirect(PendingCall &Call) {
  const FunctionInfo &F = functionOf(Call.In);
  std::set<FunctionId> Targets;
  std::set<ExternalId> Outside;
  if (NodeId Callee = node(Call.In, Call.Call->B); Callee != None)
    for (LocationId Each : Graph.pointees(Callee)) {
      const Object &What = Graph.object(Graph.at(Each).In);
      if (What.Kind == ObjectKind::Function)
        Targets.insert(What.Id);
      else if (What.Kind == ObjectKind::External)
        Outside.insert(What.Id);
    }
  if (Targets.empty() && Outside.empty() && Call.Call->B != None &&
      Call.Call->B != facts::NullRegister)
    for (FunctionId Each : Flow.at(Instances[Call.In].Function, Call.Call->B))
      Targets.insert(Each);
  if (Targets.empty() && Outside.empty() && Call.Call->Ty != None &&
      !Flow.knowsTable(Instances[Call.In].Function, Call.Call->B))
    for (FunctionId Each : Flow.bySignature(F.View->Signatures[Call.Call->Ty]))
      Targets.insert(Each);
  bool Changed = false;
  Call.Resolved |=
      Call.Call->B != None && Flow.knowsTable(Instances[Call.In].Function, Call.Call->B);
  Call.Resolved |= !Targets.empty() || !Outside.empty();
  if (Targets.size() > FewTargets)
    if (std::set<FunctionId> Own = storedTargets(Call); !Own.empty() && Own.size() <= FewTargets)
      Targets = Own;
  if (Targets.size() > FewTargets &&
      !carriesInput(Call, Targets.size() > SomeTargets ? Look::Event : Look::First))
    return false;
  for (FunctionId Each : Targets) {
    if (Known.noReturn(Each) || Known.formats(Each))
      continue;
    if (ExternalEffect Effect = Known.standsFor(Each); Effect.What != Effect::Unknown)
      Changed |= applyEffect(Call, Effect);
    else
      Changed |= follow(Call, Each, /*Direct=*/false);
  }
  for (ExternalId Each : Outside) {
    ExternalEffect Effect = Known.effect({Entity::External, Each});
    Changed |= Effect.What != Effect::Unknown ? applyEffect(Call, Effect) : generalRule(Call, Each);
  }
  return Changed;
}

/// True when a call of \p Id gives its caller a pointer: its result, what it stores in a local, or
/// what it makes and stores where it is told to.
bool Zone::gives(const PendingCall &Call, FunctionId Id) const {
  const FunctionInfo &F = P.function(Id);
  if (F.result().Pointers && !Call.Call->Implicit)
    return true;
  if (Call.Call->A == None)
    return false;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (NodeId N = argumentNode(Call, I); N != None)
      for (LocationId Each : Graph.pointees(N))
        if (const Object &What = Graph.object(Graph.at(Each).In);
            What.Kind == ObjectKind::Stack && What.Type.Pointers)
          return true;
  return Known.makesBehind(Id);
}

/// True when a call gives the size of a record: what it makes is made for that record.
bool Zone::asksForSize(Site Via) const {
  const facts::Function &Body = *functionOf(Via.In).Body;
  for (unsigned I = 0; I != Via.At->ArgumentCount; ++I)
    if (NodeId N = node(Via.In, Body.Arguments[Via.At->FirstArgument + I]); N != None)
      for (LocationId Each : Graph.pointees(N))
        if (Graph.object(Graph.at(Each).In).Kind == ObjectKind::Size)
          return true;
  return false;
}

/// A constructor that takes no object: numbers, names and hooks are about what it makes.
bool Zone::makesOnly(const FunctionInfo &F) const {
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
unsigned Zone::removed(const PendingCall &Call, FunctionId Target, bool Contact, Look How) const {
  bool Nothing = !Call.Call->ArgumentCount;
  if (OnTheWay[Target] || ReadsHandleGlobal[Target] || (Nothing && ReadsInputGlobal[Target]) ||
      carriesInput(Call, How))
    return 0;
  bool One = Contact || makesOnly(P.function(Target));
  return Instances[Call.In].Removed + (Nothing ? 0 : One ? 1 : 2);
}

/// True when a global variable is as good as an argument: \p Target allocates what its caller keeps
/// there, or is an action of the parser that calls it, on what the parser has made.
bool Zone::sharesGlobal(const PendingCall &Call, FunctionId Target) const {
  std::set<GlobalId> Made = Known.setsUp(Target);
  if (!Made.empty() && llvm::is_contained(Loads, Call.In))
    return true;
  if (Call.Call->ArgumentCount)
    return false;
  if (llvm::any_of(GlobalsUsed[Instances[Call.In].Function],
                   [&](GlobalId Each) { return Made.count(Each); }))
    return true;
  bool Near = !Instances[Call.In].Removed;
  return Near && functionOf(Call.In).View == P.function(Target).View &&
         llvm::any_of(GlobalsUsed[Target], [&](GlobalId Each) { return keepsMade(Each); });
}

bool Zone::follow(PendingCall &Call, FunctionId Target, bool Direct) {
  if (Call.Followed.count(Target)) {
    bool Contact = contact(Call); // Input may have come to where there was none.
    enter(Target, {Call.In, Call.Call}, Contact, removed(Call, Target, Contact, Look::Again));
    return fillParameters(Call, Target);
  }
  bool Contact = contact(Call);
  if (!Contact) {
    bool Wanted = leadsToInput(Target) ||
                  (Direct && (gives(Call, Target) || sharesGlobal(Call, Target))) ||
                  (!Direct && gives(Call, Target) && makesOnly(P.function(Target))) ||
                  preparesState(Call, Target);
    if (!Wanted)
      return false;
    if (Instances[Call.In].Contactless >= ContactlessMax) {
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
  link(Call, enter(Target, {Call.In, Call.Call}, Contact, Removed));
  return true;
}

/// A callee that reads input into a parameter fills what it is given, whatever way it steps
/// through.
bool Zone::fillParameters(PendingCall &Call, FunctionId Target) {
  const std::set<unsigned> &Filled = Known.filledParameters(Target);
  if (Filled.empty() || Call.Seen == argumentSize(Call))
    return false;
  Call.Seen = argumentSize(Call);
  for (unsigned Parameter : Filled)
    fillBehind(Call, static_cast<int>(Parameter), static_cast<int>(Parameter) + 1);
  return true;
}

void Zone::link(const PendingCall &Call, InstanceId Callee) {
  const FunctionInfo &F = functionOf(Callee);
  for (unsigned I = 0; I != F.Body->ParameterCount; ++I)
    if (NodeId N = argumentNode(Call, static_cast<int>(I)); N != None)
      Graph.addEdge(N, node(Callee, I));
  // Addresses of locals among variable arguments are for a dispatcher to fill; what is built is
  // kept.
  for (unsigned I = F.Body->ParameterCount; F.Body->Variadic && I < Call.Call->ArgumentCount; ++I)
    if (NodeId N = argumentNode(Call, static_cast<int>(I)); N != None)
      Graph.addBuilt(N, node(Callee, F.Body->ParameterCount));
  if (NodeId To = resultNode(Call); To != None)
    Graph.addEdge(Instances[Callee].Result, To);
}

} // namespace nvmove::solve
