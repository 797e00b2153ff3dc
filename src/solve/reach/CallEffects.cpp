// Calls whose effect is known. See CallEffects.h and Externals.def.
#include "solve/reach/CallEffects.h"

#include "solve/Heuristics.h"

namespace nvmove::solve {

using facts::Instruction;
using facts::Op;
using facts::Register;

namespace {

/// The type that the result of \p Call gets in the same function: by cast, or by the variable that
/// takes it. None when it stays generic.
facts::TypeId typeOfBirth(const FunctionInfo &F, const Instruction &Call) {
  if (Call.Dst == None)
    return None;
  std::set<Register> Same = {Call.Dst};
  facts::TypeId Variable = None;
  bool After = false;
  for (const Instruction &I : F.Body->Body) {
    After |= &I == &Call;
    if (After && I.Code == Op::Store && Same.count(I.B) && Variable == None)
      Variable = I.Ty;
    if (!After || I.A == None || !Same.count(I.A))
      continue;
    if (I.Code == Op::Cast)
      return I.Ty;
    if (I.Code != Op::Copy)
      continue;
    Same.insert(I.Dst);
    if (const Shape &Type = F.shapeOf(F.Body->Registers[I.Dst]);
        Variable == None && Type.Pointers && !Type.isPointerTo(Core::Void))
      Variable = F.Body->Registers[I.Dst];
  }
  return Variable;
}

/// True when no run leaves \p Body between \p Allocation and \p Release once one of \p Pointers has
/// been used.
bool staysUntil(const Instruction &Allocation, const Instruction &Release,
                const facts::Function &Body, const std::set<Register> &Pointers) {
  bool Used = false;
  for (const Instruction *I = &Allocation + 1; I < &Release; ++I) {
    if (I->Code == Op::Return && Used)
      return false;
    Used |= I->Code == Op::Store && (Pointers.count(I->B) || Pointers.count(I->A));
    Used |= I->Code == Op::FieldOf && Pointers.count(I->A);
    for (unsigned A = 0; I->Code == Op::Call && A != I->ArgumentCount; ++A)
      Used |= Pointers.count(Body.Arguments[I->FirstArgument + A]) != 0;
  }
  for (uint32_t Loop = Allocation.Region; Loop != 0; Loop = Body.Regions[Loop].Parent) {
    uint32_t Around = Release.Region;
    while (Around != 0 && Around != Loop)
      Around = Body.Regions[Around].Parent;
    if (Around == 0 && Body.Regions[Loop].Kind == facts::RegionKind::Loop)
      return false; // Only the last of many is released.
  }
  return &Allocation < &Release;
}

} // namespace

/// A pool that was made with the size of a record hands out that record. Of the numbers that a pool
/// keeps, some are sums of sizes, or of its own: the ones made of one other size alone say which
/// record it is, if they agree.
void CallEffects::addPoolSizes(const PendingCall &Call, std::set<RecordKey> &Given) const {
  std::set<RecordKey> Single;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I) {
    NodeId N = V.argumentNode(Call, I);
    if (N == None)
      continue;
    for (LocationId Each : Graph.pointees(N)) {
      const Object &Pool = Graph.object(Graph.at(Each).In);
      for (auto [Offset, Cell] : Pool.Cells) {
        std::set<RecordKey> Sizes;
        for (LocationId Held : Graph.pointees(Cell))
          if (const Object &What = Graph.object(Graph.at(Held).In); What.Kind == ObjectKind::Size)
            Sizes.insert(What.Id);
        if (Sizes.size() == 1 && !Pool.Types.count(*Sizes.begin()))
          Single.insert(*Sizes.begin());
      }
    }
  }
  if (Single.size() == 1)
    Given = Single;
}

void CallEffects::typeAtBirth(PendingCall &Call, ObjectId Made, std::initializer_list<int> Sizes) {
  Site Here{Call.In, Call.Call};
  std::set<RecordKey> Given;
  for (int Argument : Sizes)
    if (NodeId N = V.argumentNode(Call, Argument); N != None)
      for (LocationId Each : Graph.pointees(N))
        if (const Object &What = Graph.object(Graph.at(Each).In); What.Kind == ObjectKind::Size)
          Given.insert(What.Id);
  if (Given.empty())
    addPoolSizes(Call, Given);
  if (Given.size() > SizesMax) // Memory of some size or other, kept somewhere in between.
    Graph.object(Made).Types.clear();
  else
    for (RecordKey Record : Given)
      Graph.setType(Made, Record, Here);
  if (!Graph.object(Made).Types.empty())
    return;
  const FunctionInfo &F = V.functionOf(Call.In);
  const Shape &Type = F.shapeOf(typeOfBirth(F, *Call.Call));
  if (Type.isPointerTo(Core::Record) && Graph.object(Made).Kind == ObjectKind::Mapped) {
    // The first of several records, one behind the other: the others must pass their casts, too.
    Graph.object(Made).Views.try_emplace(Type.Record, Here);
  } else if (Type.isPointerTo(Core::Record)) {
    Graph.setType(Made, Type.Record, Here);
    Graph.object(Made).Guessed = true;
  } else if (Type.Pointers && !Type.isPointerTo(Core::Void)) {
    Graph.object(Made).Bytes = true;
  }
}

bool CallEffects::allocate(PendingCall &Call, ObjectKind Kind, std::initializer_list<int> Sizes,
                           NodeId To) {
  bool Changed = false;
  if (Call.Made == None) {
    Object Fresh;
    Fresh.Kind = Kind;
    Fresh.Made = {Call.In, Call.Call};
    Call.Made = Graph.makeObject(std::move(Fresh));
    typeAtBirth(Call, Call.Made, Sizes);
    if (To != None)
      Graph.add(To, Graph.location(Call.Made, 0));
    Changed = true;
  }
  size_t Before = Graph.object(Call.Made).Types.size();
  typeAtBirth(Call, Call.Made, Sizes);
  return Changed || Graph.object(Call.Made).Types.size() != Before;
}

/// Everything that the pointer arguments [From, To) point to becomes input.
void CallEffects::fillBehind(PendingCall &Call, int From, int To) {
  for (int I = From; I < std::min<int>(To, Call.Call->ArgumentCount); ++I) {
    NodeId N = V.argumentNode(Call, I);
    if (N == None)
      continue;
    for (LocationId Each : Graph.snapshot(N)) {
      Location At = Graph.at(Each);
      const Object &What = Graph.object(At.In);
      // A pointer to one field fills that field; a pointer to the start or a buffer all of it.
      bool Whole = At.Offset == 0 || At.Offset == AnyOffset;
      if (!What.isMemory() || (Whole && Kept.of(At.In).Handle))
        continue;
      if (Whole && !What.isOlder())
        Graph.fill(At.In, {Call.In, Call.Call});
      else
        Graph.add(Graph.cell(At.In, At.Offset), Graph.input());
      if (At.Offset == 0 && What.isOlder() && !What.Types.empty() &&
          givesSizeOf(Call, *What.Types.begin()))
        Graph.object(At.In).BulkRead = true;
    }
  }
}

/// A callee that reads input into a parameter fills what it is given, whatever way it steps
/// through.
bool CallEffects::fillParameters(PendingCall &Call, FunctionId Target) {
  const std::set<unsigned> &Filled = Known.filledParameters(Target);
  if (Filled.empty() || Call.Seen == Kept.argumentSize(Call))
    return false;
  Call.Seen = Kept.argumentSize(Call);
  for (unsigned Parameter : Filled)
    fillBehind(Call, static_cast<int>(Parameter), static_cast<int>(Parameter) + 1);
  return true;
}

/// True when an argument of \p Call is computed from the size of \p Record.
bool CallEffects::givesSizeOf(const PendingCall &Call, RecordKey Record) const {
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (NodeId N = V.argumentNode(Call, I); N != None)
      for (LocationId Each : Graph.pointees(N))
        if (const Object &What = Graph.object(Graph.at(Each).In);
            What.Kind == ObjectKind::Size && What.Id == Record)
          return true;
  return false;
}

/// memcpy and friends move objects when a size says so, or the type of an argument and none that of
/// text; else characters.
void CallEffects::copyMemory(PendingCall &Call, int To, int From) {
  NodeId Target = V.argumentNode(Call, To), Source = V.argumentNode(Call, From);
  if (Target == None || Source == None)
    return;
  const FunctionInfo &F = V.functionOf(Call.In);
  bool Sized = false, Objects = false, Text = false;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I) {
    Register R = V.argument(Call, I);
    if (R == None || R == facts::NullRegister)
      continue;
    const Shape &Type = F.shapeOf(F.Body->Registers[R]);
    Objects |= Type.Pointers > 1 || Type.isPointerTo(Core::Record);
    Text |= I == From && Type.isPointerTo(Core::Char);
    for (LocationId Each : Graph.pointees(V.node(Call.In, R))) {
      Sized |= Graph.object(Graph.at(Each).In).Kind == ObjectKind::Size;
      Objects |= Graph.object(Graph.at(Each).In).Type.Pointers != 0;
    }
  }
  if (Sized || (Objects && !Text))
    Graph.addCopyObject(Target, Source, 0, {Call.In, Call.Call});
  else
    Graph.addCopyBytes(Target, Source, {Call.In, Call.Call});
}

/// Only a release on every way through, of the very pointer that an allocation in the same function
/// gave, is sure to come and says what it releases. (After a return in between, unless it comes
/// before any use, the memory may live on.)
void CallEffects::noteFreed(const PendingCall &Call, const ExternalEffect &E) {
  if (NodeId N = V.argumentNode(Call, E.A); N != None)
    for (LocationId Each : Graph.pointees(N))
      Graph.object(Graph.at(Each).In).Released = true;
  Register Freed = V.argument(Call, E.A);
  if (E.B == Conditional || E.C == ThroughPointer || Freed == None || Freed == facts::NullRegister)
    return;
  const facts::Function &Body = *V.functionOf(Call.In).Body;
  for (uint32_t At = Call.Call->Region; At != 0; At = Body.Regions[At].Parent)
    if (Body.Regions[At].Kind == facts::RegionKind::Branch)
      return;
  std::set<Register> Behind = registersBehind(Body, Freed);
  for (const Instruction &I : Body.Body)
    if (I.Code == Op::Load && Behind.count(I.Dst))
      return;
  for (const PendingCall &Other : V.calls())
    if (Other.In == Call.In && Other.Made != None && Behind.count(Other.Call->Dst) &&
        staysUntil(*Other.Call, *Call.Call, Body, Behind))
      Graph.object(Other.Made).FreedAtEnd = true;
}

bool CallEffects::received(const PendingCall &Call, int Number) const {
  NodeId N = V.argumentNode(Call, Number);
  return N != None && (Graph.holds(N, Graph.handle()) || Graph.holds(N, Graph.input()));
}

/// What happens once, when the call is first seen, or each time its arguments have grown.
bool CallEffects::apply(PendingCall &Call, const ExternalEffect &E) {
  size_t Now = Kept.argumentSize(Call);
  bool First = Call.Seen == 0, Grown = Now != Call.Seen;
  Call.Seen = Now;
  NodeId Result = V.resultNode(Call);
  switch (E.What) {
  case Effect::Open:
  case Effect::OpenAt:
    return Grown && open(Call, E);
  case Effect::Read:
  case Effect::ReadValue:
  case Effect::Parse:
    return Grown && read(Call, E);
  case Effect::Map:
  case Effect::Allocate:
  case Effect::AllocateAt:
  case Effect::ReadLine:
  case Effect::Duplicate:
    return provide(Call, E, Grown);
  case Effect::Resize:
    if (First && Result != None && V.argumentNode(Call, E.A) != None)
      Graph.addEdge(V.argumentNode(Call, E.A), Result);
    return allocate(Call, ObjectKind::Heap, {E.B, E.C}, Result) || First;
  case Effect::CopyBytes:
    if (First)
      copyMemory(Call, E.A, E.B);
    [[fallthrough]];
  case Effect::Within:
    if (First && Result != None && V.argumentNode(Call, E.A) != None)
      Graph.addShift(V.argumentNode(Call, E.A), Result, E.What == Effect::Within ? AnyOffset : 0);
    return First;
  case Effect::Release:
    noteFreed(Call, E);
    return false;
  case Effect::Register:
  case Effect::Deliver:
    return First && exchange(Call, E);
  case Effect::Start:
    return start(Call, E);
  case Effect::Nothing:
  case Effect::Unknown:
    return false;
  }
  return false;
}

/// What the system is told to remember of a descriptor, it gives back when something happens there:
/// one object stands for its memory.
bool CallEffects::exchange(PendingCall &Call, const ExternalEffect &E) {
  NodeId Behind = V.argumentNode(Call, E.A);
  if (Behind == None)
    return false;
  if (Registered == None) {
    Object Memory;
    Memory.Kind = ObjectKind::Pre;
    Registered = Graph.makeNodes(1);
    Graph.add(Registered, Graph.location(Graph.makeObject(std::move(Memory)), 0));
  }
  bool Keeps = E.What == Effect::Register;
  Graph.addCopyObject(Keeps ? Registered : Behind, Keeps ? Behind : Registered, 0,
                      {Call.In, Call.Call});
  return true;
}

/// A thread, or what runs once, is a call of the function that is handed over; its caller need not
/// know what it reads.
bool CallEffects::start(PendingCall &Call, const ExternalEffect &E) {
  bool Changed = false;
  NodeId Callee = V.argumentNode(Call, E.A), Given = V.argumentNode(Call, E.B);
  if (Callee == None)
    return false;
  bool Input = Kept.carriesInput(Call, Look::First);
  for (LocationId Each : Graph.snapshot(Callee)) {
    const Object &What = Graph.object(Graph.at(Each).In);
    if (What.Kind != ObjectKind::Function || Known.noReturn(What.Id) ||
        !(Input || Sources.leadsToInput(What.Id)) || !Call.Followed.insert(What.Id).second)
      continue;
    InstanceId Started = V.enter(What.Id, {Call.In, Call.Call}, /*Contact=*/true, /*Removed=*/0);
    if (Given != None && P.function(V.instance(Started).Function).Body->ParameterCount)
      Graph.addEdge(Given, V.node(Started, 0));
    Changed = true;
  }
  return Changed;
}

bool CallEffects::open(PendingCall &Call, const ExternalEffect &E) {
  if (!Sources.isTheInput(Call) || writesOnly(*Call.Call, E))
    return false;
  Opened = true;
  if (E.What == Effect::Open) {
    if (NodeId Result = V.resultNode(Call); Result != None)
      Graph.add(Result, Graph.handle());
  } else if (V.argumentNode(Call, E.A) != None) {
    storeBehind(Call, E.A, Graph.handle());
  }
  return true;
}

bool CallEffects::read(PendingCall &Call, const ExternalEffect &E) {
  bool Parses = E.What == Effect::Parse || E.What == Effect::ReadLine;
  if (Parses ? !Kept.contact(Call) : !received(Call, E.B))
    return false;
  if (E.What == Effect::Read)
    fillBehind(Call, E.A, E.A + 1);
  else if (Parses)
    fillBehind(Call, 0, Call.Call->ArgumentCount);
  if (NodeId Result = V.resultNode(Call); Result != None)
    Graph.add(Result, Graph.input());
  return true;
}

/// Fresh memory, in whatever way a function provides it.
bool CallEffects::provide(PendingCall &Call, const ExternalEffect &E, bool Grown) {
  NodeId Result = V.resultNode(Call);
  Site Here{Call.In, Call.Call};
  if (E.What == Effect::Allocate)
    return allocate(Call, ObjectKind::Heap, {E.A, E.B}, Result);
  if (E.What == Effect::AllocateAt || E.What == Effect::ReadLine) {
    bool Changed = allocate(Call, ObjectKind::Heap, {E.B}, None);
    Graph.object(Call.Made).Bytes |= E.B < 0;
    if (Grown && V.argumentNode(Call, E.A) != None)
      storeBehind(Call, E.A, Graph.location(Call.Made, 0));
    if (Grown && E.What == Effect::ReadLine && read(Call, E))
      Graph.fill(Call.Made, Here);
    return Changed || Grown;
  }
  if (E.What == Effect::Map && V.argumentNode(Call, E.A) == None) // Of no file: for a pool perhaps.
    return allocate(Call, ObjectKind::Heap, {E.B}, Result);
  if (E.What == Effect::Map) {
    bool Changed = allocate(Call, ObjectKind::Mapped, {}, Result);
    if (!received(Call, E.A) || Graph.filled().count(Call.Made))
      return Changed;
    Graph.fill(Call.Made, Here);
    return true;
  }
  if (!allocate(Call, ObjectKind::Heap, {}, Result))
    return false;
  Graph.object(Call.Made).Bytes = true;
  if (Result != None && V.argumentNode(Call, E.A) != None)
    Graph.addCopyBytes(Result, V.argumentNode(Call, E.A), Here);
  return true;
}

/// Stores \p What wherever argument \p Number points.
void CallEffects::storeBehind(PendingCall &Call, int Number, LocationId What) {
  for (LocationId Each : Graph.snapshot(V.argumentNode(Call, Number)))
    if (Location At = Graph.at(Each); Graph.object(At.In).isMemory())
      Graph.add(Graph.cell(At.In, At.Offset), What);
}

} // namespace nvmove::solve
