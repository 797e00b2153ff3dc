// See Contents.h.
#include "solve/reach/Contents.h"

#include "solve/Heuristics.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

using facts::Register;

void Contents::refresh() {
  All.assign(Graph.objects(), {});
  findDirect();
  findLinked();
  findStaged();
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    if (Graph.object(Id).Kind == ObjectKind::Global)
      All[Id].Buffer = keepsBuffer(Id);
}

void Contents::findDirect() {
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id) {
    Content &Made = All[Id];
    for (auto [Offset, Cell] : Graph.object(Id).Cells)
      for (LocationId Each : Graph.pointees(Cell)) {
        Made.Input |= Each == Graph.input();
        Made.Handle |= Each == Graph.handle();
        ObjectKind Kind = Graph.object(Graph.at(Each).In).Kind;
        Made.Fresh |= Kind == ObjectKind::Heap || Kind == ObjectKind::Mapped;
      }
  }
  // A local array of pointers into a line that was read is as good as the line.
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    if (Graph.object(Id).Kind == ObjectKind::Stack && !All[Id].Fresh)
      for (auto [Offset, Cell] : Graph.object(Id).Cells)
        for (LocationId Each : Graph.pointees(Cell))
          All[Id].Fresh |= Graph.object(Graph.at(Each).In).Kind == ObjectKind::Stack &&
                           All[Graph.at(Each).In].Input;
}

void Contents::findStaged() {
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id) {
    Content &Each = All[Id];
    const Object &What = Graph.object(Id);
    // What is put into scratch memory far from the input was read from what is built already.
    unsigned Near = What.Kind == ObjectKind::Stack ? 0 : ConstructorRemoved;
    bool Far = What.Made.At && V.instance(What.Made.In).Entered > Near;
    Each.Source = Each.Handle;
    Each.Staged = Each.Handle || (Each.Input && !Each.Linked && !Far);
  }
  for (unsigned Level = 0; Level != 2; ++Level)
    for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
      if (ObjectKind Kind = Graph.object(Id).Kind;
          Kind == ObjectKind::Heap || Kind == ObjectKind::Stack || Kind == ObjectKind::Pre)
        for (auto [Offset, Cell] : Graph.object(Id).Cells)
          for (LocationId Each : Graph.pointees(Cell)) {
            All[Id].Source |= All[Graph.at(Each).In].Source;
            All[Id].Staged |= All[Graph.at(Each).In].Staged;
          }
}

/// Walks from memory older than the load; what holds the handle is machinery and links nothing.
void Contents::findLinked() {
  std::vector<ObjectId> Work;
  auto Link = [&](ObjectId Id) {
    if (Graph.object(Id).isMemory() && !All[Id].Linked &&
        (!All[Id].Handle || Graph.object(Id).Kind == ObjectKind::Global)) {
      All[Id].Linked = true;
      Work.push_back(Id);
    }
  };
  for (ObjectId Id = 0; Id != Graph.objects(); ++Id)
    if (Graph.object(Id).isOlder())
      Link(Id);
  while (!Work.empty()) {
    ObjectId Id = Work.back();
    Work.pop_back();
    for (auto [Offset, Cell] : Graph.object(Id).Cells)
      for (LocationId Each : Graph.pointees(Cell))
        if (Graph.keeps(Graph.at(Each)))
          Link(Graph.at(Each).In);
  }
}

bool Contents::anyHandle() const {
  return llvm::any_of(All, [](const Content &Each) { return Each.Handle; });
}

/// True when a global points to characters that were read.
bool Contents::keepsBuffer(ObjectId Global) const {
  for (auto [Offset, Cell] : Graph.object(Global).Cells)
    for (LocationId Each : Graph.pointees(Cell)) {
      ObjectId In = Graph.at(Each).In;
      const Object &What = Graph.object(In);
      if ((What.Kind == ObjectKind::Heap || What.Kind == ObjectKind::Mapped) &&
          What.Types.empty() && All[In].Input)
        return true;
    }
  return false;
}

/// True when a global points to what was made in the zone and holds the handle, input or more.
bool Contents::keepsMade(GlobalId Global) const {
  ObjectId Known = Graph.knownGlobal(Global);
  if (Known == None)
    return false;
  for (auto [Offset, Cell] : Graph.object(Known).Cells)
    for (LocationId Each : Graph.pointees(Cell)) {
      const Content &Kept = of(Graph.at(Each).In);
      if (Graph.object(Graph.at(Each).In).Kind == ObjectKind::Heap &&
          (Kept.Source || Kept.Input || Kept.Fresh))
        return true;
    }
  return false;
}

/// True when a global points to the record that holds the handle.
bool Contents::keepsReader(ObjectId Global) const {
  for (auto [Offset, Cell] : Graph.object(Global).Cells)
    for (LocationId Each : Graph.pointees(Cell))
      if (ObjectId In = Graph.at(Each).In;
          Graph.object(In).Kind == ObjectKind::Heap && All[In].Handle)
        return true;
  return false;
}

bool Contents::contact(NodeId N) const {
  if (N == None)
    return false;
  for (LocationId Each : Graph.pointees(N)) {
    ObjectId In = Graph.at(Each).In;
    const Object &What = Graph.object(In);
    const Content &Kept = of(In);
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

bool Contents::contact(const PendingCall &Call) const {
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (contact(V.argumentNode(Call, I)))
      return true;
  return false;
}

/// True when the handle, or what holds it, is handed over.
bool Contents::carriesHandle(const PendingCall &Call) const {
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (NodeId N = V.argumentNode(Call, I); N != None)
      for (LocationId Each : Graph.pointees(N))
        if (Each == Graph.handle() || of(Graph.at(Each).In).Source)
          return true;
  return false;
}

/// True when the handle, input, or what holds one of them is handed over. Numbers do not count: of
/// those that a caller has, most were read from what is built already. A pointer that is nothing
/// but input leads into a document that the program holds in memory. An \p Event needs more than a
/// record that some input was put in, or to be given no pointer at all, and a caller at the input.
/// On a look Again only what was staged on the stack counts: much of what is on the heap is linked
/// by functions that are visited later.
bool Contents::carriesInput(const PendingCall &Call, Look How) const {
  bool Near = !V.instance(Call.In).Removed;
  bool Event = How == Look::Event;
  if (Event && !Near)
    return false;
  bool Pointers = false;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I) {
    NodeId N = V.argumentNode(Call, I);
    if (N == None)
      continue;
    bool Input = false, Memory = false;
    for (LocationId Each : Graph.pointees(N)) {
      ObjectId In = Graph.at(Each).In;
      const Content &Kept = of(In);
      bool Stacked = Graph.object(In).Kind == ObjectKind::Stack;
      if (Each == Graph.handle() ||
          (Event ? Kept.Source && (!Graph.object(In).isOlder() || Kept.Handle)
                 : Kept.Source || (Kept.Staged && (How == Look::First || Stacked))) ||
          (Event && Graph.filled().count(In)))
        return true;
      Input |= Each == Graph.input();
      Memory |= Graph.object(In).isMemory();
    }
    const FunctionInfo &F = V.functionOf(Call.In);
    bool Pointer = F.shapeOf(F.Body->Registers[V.argument(Call, I)]).Pointers && !Memory;
    if (Input && Near && Pointer)
      return true;
    Pointers |= Pointer || Memory;
  }
  return Event && !Pointers;
}

/// True when \p R holds the handle, input, or the address of what was made and holds one of them.
bool Contents::bringsInput(InstanceId In, Register R) const {
  NodeId N = V.node(In, R);
  if (N == None)
    return false;
  for (LocationId Each : Graph.pointees(N)) {
    ObjectId Id = Graph.at(Each).In;
    if (Each == Graph.input() || Each == Graph.handle() ||
        (!Graph.object(Id).isOlder() && (of(Id).Input || of(Id).Handle)))
      return true;
  }
  return false;
}

size_t Contents::argumentSize(const PendingCall &Call) const {
  size_t Size = 1;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (NodeId N = V.argumentNode(Call, I); N != None)
      for (LocationId Each : Graph.pointees(N)) {
        ObjectId In = Graph.at(Each).In;
        Size += 1 + of(In).Input + of(In).Handle;
      }
  return Size;
}

} // namespace nvmove::solve
