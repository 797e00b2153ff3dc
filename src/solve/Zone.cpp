// Instances, translation of instructions to constraints, and the rounds. See Zone.h.
#include "solve/Zone.h"

#include "solve/Handles.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace nvmove::solve {

using facts::Instruction;
using facts::Op;
using facts::Register;

namespace {

/// Visits of one function from different call sites; beyond it, visits share the first ones.
constexpr unsigned ClonesMax = 128;
constexpr unsigned CloneDepthMax = 4;
constexpr unsigned RoundsMax = 200;
/// Readers of one item are called by readers of a record, and these by the handlers of a block.
constexpr unsigned GlobalReaderDepth = 3;

} // namespace

Zone::Zone(const Program &P, const Inference &Known, const FunctionFlow &Flow)
    : P(P), Known(Known), Flow(Flow), Graph(P), ReadsInputGlobal(P.functions().size()), GlobalsUsed(P.functions().size()) {
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    for (const Instruction &I : P.function(Id).Body->Body)
      if (I.Code == Op::AddressOf)
        if (Entity Meant = P.entity(P.function(Id), I.A); Meant.What == Entity::Global)
          GlobalsUsed[Id].push_back(Meant.Id);
}

NodeId Zone::node(InstanceId In, Register R) const {
  return R == None || R == facts::NullRegister ? None : Instances[In].First + R;
}

bool Zone::isGeneric(const FunctionInfo &F) const {
  bool Pointers = false;
  for (unsigned I = 0; I != F.Body->ParameterCount; ++I) {
    const Shape &Parameter = F.parameter(I);
    if (Parameter.What == Core::Void && Parameter.Pointers)
      return true;
    Pointers |= Parameter.Pointers && Parameter.What != Core::Char;
  }
  const Shape &Result = F.result();
  if (Result.What == Core::Void && Result.Pointers)
    return true;
  // A constructor: takes no object, gives one.
  return !Pointers && Result.isPointerTo(Core::Record);
}

InstanceId Zone::enter(FunctionId Id, Site Via, bool Contact) {
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
    if (isGeneric(F) && !Recursive && Caller.CloneDepth < CloneDepthMax &&
        Clones[Id] < ClonesMax) {
      Key = {Id, Via.In, Via.At};
      CloneDepth = Caller.CloneDepth + 1;
    }
  }
  auto [It, New] = Entered.try_emplace(Key, static_cast<InstanceId>(Instances.size()));
  if (!New) {
    unsigned &Known = Instances[It->second].Contactless;
    Known = std::min(Known, Contactless);
    return It->second;
  }
  ++Clones[Id];
  Instance Made;
  Made.Function = Id;
  Made.Via = Via;
  Made.Contactless = Contactless;
  Made.CloneDepth = CloneDepth;
  Made.First = Graph.makeNodes(F.Body->Registers.size() + 1);
  Made.Result = static_cast<NodeId>(Made.First + F.Body->Registers.size());
  InstanceId In = It->second;
  for (Register R = 0; R != F.Body->Registers.size(); ++R)
    if (const Shape &Type = F.shapeOf(F.Body->Registers[R]);
        Type.Size && Type.Size < sizeof(void *) && !Type.Pointers && Type.What != Core::Record)
      Graph.restrictToNumbers(Made.First + R);
  Instances.push_back(std::move(Made));
  translate(In);
  return In;
}

void Zone::translate(InstanceId In) {
  const FunctionInfo &F = functionOf(In);
  std::vector<bool> Dead = Known.deadRegions(Instances[In].Function);
  for (const Instruction &I : F.Body->Body)
    if (!Dead[I.Region])
      instruction(In, I);
}

NodeId Zone::addressOf(InstanceId In, const Instruction &I) {
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
    return Dst;
  }
  Graph.add(Dst, Graph.location(Target, 0));
  return Dst;
}

void Zone::instruction(InstanceId In, const Instruction &I) {
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
                         !I.Implicit &&
                             F.shapeOf(F.Body->Registers[I.A]).isPointerTo(Core::Char),
                         Here);
  case Op::Load: {
    const Shape &Type = F.shapeOf(I.Ty);
    uint32_t Number = None;
    if (Type.isPointerTo(Core::Function)) {
      const std::set<FunctionId> &Held = Flow.at(Instances[In].Function, I.Dst);
      Graph.Flows.emplace_back(Held.begin(), Held.end());
      Number = static_cast<uint32_t>(Graph.Flows.size() - 1);
    }
    return Graph.addLoad(A(), Dst, Type, Number, Here);
  }
  case Op::Store:
    return Graph.addStore(A(), node(In, I.B), Here);
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

/// Static initialisers ran before anything else: they are part of every zone.
void Zone::initialisers() {
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    if (P.function(Id).Body->Symbol == None)
      enter(Id, {}, true);
}

/// True when a global points to characters that were read.
bool Zone::keepsBuffer(ObjectId Global) const {
  for (auto [Offset, Cell] : Graph.object(Global).Cells)
    for (LocationId Each : Graph.pointees(Cell)) {
      ObjectId In = Graph.at(Each).In;
      const Object &What = Graph.object(In);
      if ((What.Kind == ObjectKind::Heap || What.Kind == ObjectKind::Mapped) &&
          What.Types.empty() && Contents[In].Input)
        return true;
    }
  return false;
}

void Zone::refreshContents() {
  Contents.assign(Graph.objects(), {});
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id) {
    Content &Made = Contents[Id];
    for (auto [Offset, Cell] : Graph.object(Id).Cells)
      for (LocationId Each : Graph.pointees(Cell)) {
        Made.Input |= Each == Graph.input();
        Made.Handle |= Each == Graph.handle();
        ObjectKind Kind = Graph.object(Graph.at(Each).In).Kind;
        Made.Fresh |= Kind == ObjectKind::Heap || Kind == ObjectKind::Mapped;
      }
    HandleSeen |= Made.Handle;
  }
  for (Content &Each : Contents)
    Each.Source = Each.Handle;
  for (unsigned Level = 0; Level != 2; ++Level)
    for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
      if (ObjectKind Kind = Graph.object(Id).Kind;
          Kind == ObjectKind::Heap || Kind == ObjectKind::Stack || Kind == ObjectKind::Pre)
        for (auto [Offset, Cell] : Graph.object(Id).Cells)
          for (LocationId Each : Graph.pointees(Cell))
            Contents[Id].Source |= Contents[Graph.at(Each).In].Source;
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    if (Graph.object(Id).Kind == ObjectKind::Global)
      Contents[Id].Buffer = keepsBuffer(Id);
  findGlobalReaders();
}

/// A global that is itself the buffer, the cursor or the handle makes its users readers, and the
/// functions that call them, GlobalReaderDepth levels up.
void Zone::findGlobalReaders() {
  std::vector<FunctionId> Level;
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id) {
    if (ReadsInputGlobal[Id] || P.function(Id).Body->Symbol == None)
      continue;
    for (GlobalId Global : GlobalsUsed[Id]) {
      const Shape &Type = P.globals()[Global].Type;
      ObjectId In = Graph.globalObject(Global);
      if (In >= Contents.size() || (Type.What == Core::Record && !Type.Pointers))
        continue;
      const Content &Kept = Contents[In];
      bool Characters = Type.What == Core::Char && (Type.Array || Type.Pointers);
      if (Kept.Handle || Kept.Buffer || (Kept.Input && Characters)) {
        ReadsInputGlobal[Id] = true;
        Level.push_back(Id);
        break;
      }
    }
  }
  if (Contents.size() != Graph.objects())
    Contents.resize(Graph.objects());
  for (unsigned Depth = 0; Depth != GlobalReaderDepth; ++Depth) {
    std::vector<FunctionId> Above;
    for (FunctionId Id : Level)
      for (const CallSite &Site : Known.callers(Id))
        if (!ReadsInputGlobal[Site.Caller]) {
          ReadsInputGlobal[Site.Caller] = true;
          Above.push_back(Site.Caller);
        }
    Level = std::move(Above);
  }
}

void Zone::rounds() {
  for (unsigned Round = 0; Round != RoundsMax; ++Round) {
    if (!Graph.run()) {
      Notes.push_back("the points-to analysis was stopped at its step limit; types may be missing");
      return;
    }
    refreshContents();
    if (getenv("DBGF") && Round == 3u+atoi(getenv("DBG"))) for (auto&I:Instances) if (std::string(getenv("DBGF")).find(","+P.function(I.Function).Name+",")!=std::string::npos) { const Instance*J=&I; std::string o; while (J->Via.At) { o += P.function(J->Function).Name+(J->Contactless?"*":"")+" <- "; J=&Instances[J->Via.In]; } llvm::errs()<<"PATH "<<o<<P.function(J->Function).Name<<"\n"; }
    if (getenv("DBG")) { llvm::errs() << "round " << Round << " inst " << Instances.size() << " fns " << functionsVisited() << " objs " << Graph.objects() << " calls " << Calls.size() << " " << Graph.stats() << "\n"; if(atoi(getenv("DBG"))==(int)Round){ std::map<std::string,int> M; for(auto&I:Instances) M[P.function(I.Function).Name]++; for(auto&[n,c]:M) llvm::errs()<<c<<" "<<n<<"\n"; } }
    bool Changed = false;
    for (size_t I = 0; I != Calls.size(); ++I) {
      PendingCall Call = Calls[I]; // Calls grows while it is considered.
      Changed |= consider(Call);
      Calls[I] = std::move(Call);
    }
    if (!Changed)
      return;
  }
  Notes.push_back("visiting was stopped after " + std::to_string(RoundsMax) + " rounds");
}

/// Parameters of the load functions that are the input: the ones that are read from, or on \p Guess
/// all that could be. True when there are any.
bool Zone::seedParameters(llvm::ArrayRef<FunctionId> Load, bool Guess) {
  std::vector<std::set<unsigned>> Handles = handleParameters(P, Known, Flow);
  bool Any = false;
  for (size_t L = 0; L != Loads.size(); ++L) {
    const FunctionInfo &F = P.function(Load[L]);
    for (unsigned I = 0; I != F.Body->ParameterCount; ++I) {
      const Shape &Parameter = F.parameter(I);
      bool Library = Parameter.isPointerTo(Core::Record) && P.record(Parameter.Record).System;
      if (Library || Handles[Load[L]].count(I) ||
          (Guess && !Parameter.isPointerTo(Core::Char))) {
        Graph.add(node(Loads[L], I), Graph.handle());
        Any = true;
      }
    }
  }
  return Any;
}

/// True for a direct call that opens or maps something that can be read.
bool Zone::opens(const FunctionInfo &In, const Instruction &Call) const {
  ExternalEffect E = Known.effect(P.entity(In, Call.A));
  return (E.What == Effect::Open && !writesOnly(Call, E)) || E.What == Effect::OpenAt ||
         E.What == Effect::Map;
}

/// Breadth first over direct calls: how far every function is, and where the nearest open is.
void Zone::measure(llvm::ArrayRef<FunctionId> Load) {
  Distance.assign(P.functions().size(), ~0u);
  std::vector<FunctionId> Work;
  for (FunctionId Id : Load) {
    Distance[Id] = 0;
    Work.push_back(Id);
  }
  for (size_t At = 0; At != Work.size(); ++At) {
    const FunctionInfo &F = P.function(Work[At]);
    for (const Instruction &I : F.Body->Body)
      if (I.Code == Op::Call && I.A != None && opens(F, I))
        NearestOpen = std::min(NearestOpen, Distance[Work[At]]);
    FunctionId Caller = Work[At];
    forEachCall(P, Flow, Caller, [&](const Instruction &, FunctionId Callee) {
      if (Distance[Callee] != ~0u || Known.noReturn(Callee) || Known.formats(Callee))
        return;
      Distance[Callee] = Distance[Caller] + 1;
      Work.push_back(Callee);
    });
  }
}

/// Functions between the load functions and the nearest opens.
void Zone::findWay() {
  OnTheWay.assign(P.functions().size(), false);
  if (NearestOpen == ~0u)
    return;
  auto Near = [&](FunctionId Id) { return Distance[Id] <= NearestOpen + 1; };
  auto Opens = [&](FunctionId Id) {
    return llvm::any_of(P.function(Id).Body->Body, [&](const Instruction &I) {
      return I.Code == Op::Call && I.A != None && opens(P.function(Id), I);
    });
  };
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    OnTheWay[Id] = Near(Id) && Opens(Id);
  // Outwards level by level: a caller is on the way when one of its callees is.
  for (unsigned Level = 0; Level <= NearestOpen; ++Level)
    for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
      if (Near(Id) && !OnTheWay[Id])
        forEachCall(P, Flow, Id, [&](const Instruction &, FunctionId Callee) {
          if (OnTheWay[Callee])
            OnTheWay[Id] = true;
        });
}

void Zone::visit(llvm::ArrayRef<FunctionId> Load) {
  initialisers();
  measure(Load);
  findWay();
  for (FunctionId Id : Load) {
    InstanceId In = enter(Id, {}, true);
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
  if (seedParameters(Load, /*Guess=*/false)) {
    NearestOpen = 0; // Nothing that is opened later is the input.
    InputGiven = true;
  }
  rounds();
  if (!HandleSeen && Graph.filled().empty()) {
    seedParameters(Load, /*Guess=*/true);
    rounds();
  }
  if (BoundHit)
    Notes.push_back("some calls without contact to the input were not followed (bound reached)");
}

size_t Zone::functionsVisited() const {
  std::set<FunctionId> Distinct;
  for (const Instance &Each : Instances)
    if (P.function(Each.Function).Body->Symbol != None)
      Distinct.insert(Each.Function);
  return Distinct.size();
}

std::vector<Unresolved> Zone::unresolved() const {
  std::vector<Unresolved> Found;
  std::set<const Instruction *> Seen;
  for (const PendingCall &Call : Calls)
    if (Call.Call->A == None && !Call.Resolved && Seen.insert(Call.Call).second)
      Found.push_back({{Call.In, Call.Call}});
  return Found;
}

} // namespace nvmove::solve
