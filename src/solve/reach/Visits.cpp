// Instances, and translation of instructions to constraints. See Visits.h.
#include "solve/reach/Visits.h"

#include "solve/Heuristics.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

using facts::Instruction;
using facts::Op;
using facts::Register;

namespace {

/// Integers that carry no pointer: short ones and signed ones (uintptr_t and size_t are unsigned).
bool isNumber(const FunctionInfo &F, facts::TypeId Type) {
  const Shape &S = F.shapeOf(Type);
  if (Type == None || !S.Size || S.Pointers || S.What == Core::Record || S.What == Core::Void)
    return false;
  if (S.Size < sizeof(void *))
    return true;
  const facts::Type &Recorded = F.unit().Types[Type];
  return Recorded.Kind == facts::TypeKind::Scalar &&
         !llvm::StringRef(F.unit().text(Recorded.Spelling)).starts_with("unsigned");
}

} // namespace

Visits::Visits(const Program &P, const Inference &Known, const FunctionFlow &Flow,
               uint64_t StepsMax, Cloning Wanted)
    : P(P), Known(Known), Flow(Flow), Wanted(Wanted), Graph(P, StepsMax) {
  for (const RecordInfo &Record : P.records())
    for (const RecordField &Field : Record.Fields)
      if (Field.Type.What == Core::Record && !Field.Type.Pointers &&
          P.record(Field.Type.Record).Size <= HookBytesMax)
        Embedded.insert(Field.Type.Record);
  if (Wanted == Cloning::Makers)
    findContainers();
}

void Visits::findContainers() {
  auto Find = [&](auto Holds) {
    std::set<RecordKey> Found;
    for (RecordKey Key = 0; Key != P.records().size(); ++Key)
      if (const RecordInfo &Record = P.record(Key);
          Record.Size && Record.Size <= ContainerBytesMax && llvm::any_of(Record.Fields, Holds))
        Found.insert(Key);
    Containers.merge(Found);
  };
  Find([](const RecordField &F) { return F.Type.What == Core::Void && F.Type.Pointers; });
  Find([&](const RecordField &F) {
    return F.Type.What == Core::Record && F.Type.Pointers && Containers.count(F.Type.Record);
  });
}

NodeId Visits::node(InstanceId In, Register R) const {
  return R == None || R == facts::NullRegister ? None : Instances[In].First + R;
}

Register Visits::argument(const PendingCall &Call, int Number) const {
  if (Number < 0 || Number >= Call.Call->ArgumentCount)
    return None;
  return functionOf(Call.In).Body->Arguments[Call.Call->FirstArgument + Number];
}

NodeId Visits::argumentNode(const PendingCall &Call, int Number) const {
  return node(Call.In, argument(Call, Number));
}

NodeId Visits::resultNode(const PendingCall &Call) const { return node(Call.In, Call.Call->Dst); }

bool Visits::isGeneric(const FunctionInfo &F) const {
  bool Pointers = false, Hooks = false, Numbers = false;
  for (unsigned I = 0; I != F.Body->ParameterCount; ++I) {
    const Shape &Parameter = F.parameter(I);
    if (Parameter.What == Core::Void && Parameter.Pointers)
      return true;
    if (Parameter.isPointerTo(Core::Record) && Embedded.count(Parameter.Record))
      return true;
    bool Hook = Parameter.What == Core::Function;
    Hooks |= Hook;
    Numbers |= Parameter.Pointers == 0 && !Hook;
    Pointers |= Parameter.Pointers && Parameter.What != Core::Char && !Hook;
  }
  const Shape &Result = F.result();
  if (Result.What == Core::Void && Result.Pointers)
    return true;
  // A constructor: takes no object, gives one; hooks beside a size belong to what it makes.
  return !Pointers && (!Hooks || Numbers) && Result.isPointerTo(Core::Record);
}

/// True when a call gives the size of a record: what it makes is made for that record.
bool Visits::asksForSize(Site Via) const {
  const facts::Function &Body = *functionOf(Via.In).Body;
  for (unsigned I = 0; I != Via.At->ArgumentCount; ++I)
    if (NodeId N = node(Via.In, Body.Arguments[Via.At->FirstArgument + I]); N != None)
      for (LocationId Each : Graph.pointees(N))
        if (Graph.object(Graph.at(Each).In).Kind == ObjectKind::Size)
          return true;
  return false;
}

bool Visits::takesContainer(const FunctionInfo &F) const {
  for (unsigned I = 0; I != F.Body->ParameterCount; ++I)
    if (F.parameter(I).What == Core::Record && F.parameter(I).Pointers &&
        Containers.count(F.parameter(I).Record))
      return true;
  return false;
}

bool Visits::isCloned(FunctionId Id, Site Via) const {
  const FunctionInfo &F = P.function(Id);
  return isGeneric(F) || (F.result().isPointerTo(Core::Record) && asksForSize(Via)) ||
         (Wanted == Cloning::Makers && F.result().Pointers && Known.mayAllocate(Id)) ||
         takesContainer(F);
}

InstanceId Visits::enter(FunctionId Id, Site Via, bool Contact, unsigned Removed) {
  const FunctionInfo &F = P.function(Id);
  std::tuple<FunctionId, InstanceId, const Instruction *> Key(Id, None, nullptr);
  unsigned CloneDepth = 0;
  unsigned Contactless = 0;
  if (Via.At) {
    const Instance &Caller = Instances[Via.In];
    Contactless = Contact ? 0 : Caller.Contactless + 1;
    bool Recursive = false;
    InstanceId Up = Via.In;
    for (unsigned Steps = 0; Steps != 16 && Up != None; ++Steps) {
      Recursive |= Instances[Up].Function == Id;
      Up = Instances[Up].Via.At ? Instances[Up].Via.In : None;
    }
    if (!Recursive && Caller.CloneDepth < CloneDepthMax && Clones[Id] < ClonesMax &&
        isCloned(Id, Via)) {
      Key = {Id, Via.In, Via.At};
      CloneDepth = Caller.CloneDepth + 1;
    }
  }
  auto [It, New] = Entered.try_emplace(Key, static_cast<InstanceId>(Instances.size()));
  if (!New) {
    Instance &Known = Instances[It->second];
    Known.Contactless = std::min(Known.Contactless, Contactless);
    Known.Removed = std::min(Known.Removed, Removed);
    return It->second;
  }
  ++Clones[Id];
  Instance Made;
  Made.Function = Id;
  Made.Via = Via;
  Made.Contactless = Contactless;
  Made.CloneDepth = CloneDepth;
  Made.Removed = Made.Entered = Removed;
  Made.First = Graph.makeNodes(F.Body->Registers.size() + 1);
  Made.Result = static_cast<NodeId>(Made.First + F.Body->Registers.size());
  InstanceId In = It->second;
  for (Register R = 0; R != F.Body->Registers.size(); ++R)
    if (isNumber(F, F.Body->Registers[R]))
      Graph.restrictToNumbers(Made.First + R);
  Instances.push_back(std::move(Made));
  translate(In);
  return In;
}

void Visits::translate(InstanceId In) {
  const FunctionInfo &F = functionOf(In);
  std::vector<bool> Dead = Known.deadRegions(Instances[In].Function);
  for (const Instruction &I : F.Body->Body) // what ends the process may be a whole mode of a tool
    if (Graph.isComplete() || !Dead[I.Region])
      instruction(In, I);
}

void Visits::addressOf(InstanceId In, const Instruction &I) {
  NodeId Dst = node(In, I.Dst);
  const FunctionInfo &F = functionOf(In);
  Entity Meant = P.entity(F, I.A);
  ObjectId Target = None;
  switch (Meant.What) {
  case Entity::Function:
    Target = Graph.functionObject(Meant.Id);
    break;
  case Entity::External:
    Target = Graph.externalObject(Meant.Id);
    break;
  case Entity::Global:
    Target = Graph.globalObject(Meant.Id);
    break;
  case Entity::Local: {
    auto [It, New] = Instances[In].Locals.try_emplace(I.A, None);
    if (New) {
      Object Made;
      Made.Kind = ObjectKind::Stack;
      facts::TypeId Type = F.unit().Symbols[I.A].Type;
      Made.Type = F.shapeOf(Type);
      Made.Made = {In, &I};
      if (Made.Type.What == Core::Record && !Made.Type.Pointers)
        Made.Types.insert(Made.Type.Record);
      Made.Bytes = Made.Type.What != Core::Record || Made.Type.Pointers;
      It->second = Graph.makeObject(std::move(Made));
    }
    Target = It->second;
    break;
  }
  case Entity::Unknown:
    return;
  }
  Graph.add(Dst, Graph.location(Target, 0));
}

void Visits::load(InstanceId In, const Instruction &I) {
  const FunctionInfo &F = functionOf(In);
  const Shape &Type = F.shapeOf(I.Ty);
  NodeId Dst = node(In, I.Dst);
  uint32_t Number = None;
  if (Type.isPointerTo(Core::Function)) {
    Graph.Flows.push_back(&Flow.at(Instances[In].Function, I.Dst));
    Number = static_cast<uint32_t>(Graph.Flows.size() - 1);
  }
  if (Type.Size == 1 && !Type.Pointers && Dst != None) { // A stream may keep its own buffer.
    NodeId Character = Graph.makeNodes(1);
    Graph.restrictToInput(Character);
    Graph.addEdge(Character, Dst);
    Dst = Character;
  }
  Graph.addLoad(node(In, I.A), Dst, Type, Number, {In, &I});
}

void Visits::instruction(InstanceId In, const Instruction &I) {
  const FunctionInfo &F = functionOf(In);
  Site Here{In, &I};
  NodeId Dst = node(In, I.Dst);
  auto A = [&] { return node(In, I.A); };
  switch (I.Code) {
  case Op::AddressOf:
    addressOf(In, I);
    return;
  case Op::SizeOf:
    Graph.add(Dst, Graph.location(Graph.sizeObject(F.shapeOf(I.Ty).Record), 0));
    return;
  case Op::Call:
    Calls.push_back({In, &I, {}, None, 0, false});
    return;
  default:
    break;
  }
  if (A() == None)
    return;
  switch (I.Code) {
  case Op::Copy:
    return Graph.addEdge(A(), Dst);
  case Op::FieldOf:
    return Graph.addFieldOf(A(), Dst, I.Delta, F.shapeOf(I.Ty).Record, Here);
  case Op::ElementOf:
    return Graph.addElementOf(A(), Dst);
  case Op::Offset:
    return Graph.addShift(A(), Dst, I.Delta);
  case Op::Wander:
    return Graph.addShift(A(), Dst, AnyOffset);
  case Op::Cast:
    return Graph.addCast(A(), Dst, F.shapeOf(I.Ty),
                         !I.Implicit && F.shapeOf(F.Body->Registers[I.A]).isPointerTo(Core::Char),
                         Here);
  case Op::Load:
    return load(In, I);
  case Op::Store: {
    NodeId Value = node(In, I.B);
    if (Value == None && !F.shapeOf(I.Ty).Pointers)
      return; // A number that comes from nowhere.
    if (Value != None && isNumber(F, I.Ty)) {
      NodeId Number = Graph.makeNodes(1);
      Graph.restrictToNumbers(Number);
      Graph.addEdge(Value, Number);
      Value = Number;
    }
    return Graph.addStore(A(), Value, F.shapeOf(I.Ty), Here);
  }
  case Op::CopyObject:
    if (NodeId B = node(In, I.B); B != None)
      Graph.addCopyObject(A(), B, F.shapeOf(I.Ty).Size, Here);
    return;
  case Op::Return:
    return Graph.addEdge(A(), Instances[In].Result);
  default:
    return;
  }
}

void Visits::enterInitialisers() {
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    if (P.function(Id).Body->Symbol == None)
      enter(Id, {}, /*Contact=*/true, /*Removed=*/0);
  Graph.run();
  Graph.capture();
}

void Visits::enterLoad(FunctionId Id) {
  InstanceId In = enter(Id, {}, /*Contact=*/true, /*Removed=*/0);
  Loads.push_back(In);
  const FunctionInfo &F = P.function(Id);
  for (unsigned I = 0; I != F.Body->ParameterCount; ++I) {
    Shape Pointed = F.parameter(I);
    if (!Pointed.Pointers || Pointed.What == Core::Function)
      continue;
    --Pointed.Pointers;
    Graph.add(node(In, I), Graph.location(Graph.preObject(Pointed), 0));
  }
}

void Visits::link(const PendingCall &Call, InstanceId Callee) {
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

std::set<FunctionId> Visits::functions() const {
  std::set<FunctionId> Distinct;
  for (const Instance &Each : Instances)
    if (P.function(Each.Function).Body->Symbol != None)
      Distinct.insert(Each.Function);
  return Distinct;
}

std::vector<Site> Visits::unresolved() const {
  std::vector<Site> Found;
  std::set<const Instruction *> Seen;
  for (const PendingCall &Call : Calls)
    if (Call.Call->A == None && !Call.Resolved && Seen.insert(Call.Call).second)
      Found.push_back({Call.In, Call.Call});
  return Found;
}

} // namespace nvmove::solve
