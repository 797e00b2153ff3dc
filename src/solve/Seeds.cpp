// Where the input is: the nearest open, the way to it, parameters and globals that are it. See
// Zone.h.
#include "solve/Handles.h"
#include "solve/Heuristics.h"
#include "solve/Zone.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

using facts::Instruction;
using facts::Op;

namespace {} // namespace

/// True for a pointer to a record that keeps a place in a text: what streams look like.
bool Zone::looksLikeStream(const Shape &Parameter) const {
  if (!Parameter.isPointerTo(Core::Record))
    return false;
  return llvm::any_of(P.record(Parameter.Record).Fields, [](const RecordField &Field) {
    return Field.Type.isPointerTo(Core::Char) && !Field.Type.Array;
  });
}

/// Parameters of the load functions that are the input: the ones that are read from, or on \p Guess
/// all that could be, of several the ones that look like it. True when there are any.
bool Zone::seedParameters(llvm::ArrayRef<FunctionId> Load, bool Guess) {
  std::vector<std::set<unsigned>> Handles = handleParameters(P, Known, Flow);
  bool Any = false;
  for (size_t L = 0; L != Loads.size(); ++L) {
    const FunctionInfo &F = P.function(Load[L]);
    bool Streams = false;
    for (unsigned I = 0; I != F.Body->ParameterCount; ++I)
      Streams |= looksLikeStream(F.parameter(I));
    for (unsigned I = 0; I != F.Body->ParameterCount; ++I) {
      const Shape &Parameter = F.parameter(I);
      bool Library = Parameter.isPointerTo(Core::Record) && P.record(Parameter.Record).System;
      if (Library || Handles[Load[L]].count(I) ||
          (Guess && !Parameter.isPointerTo(Core::Char) &&
           (!Streams || looksLikeStream(Parameter)))) {
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
    forEachCall(P, Known, Flow, Caller, [&](const Instruction &, FunctionId Callee) {
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
  if (NearestOpen == ~0u || InputGiven)
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
        forEachCall(P, Known, Flow, Id, [&](const Instruction &, FunctionId Callee) {
          if (OnTheWay[Callee])
            OnTheWay[Id] = true;
        });
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

/// True when a global points to what was made in the zone and holds the handle, input or more.
bool Zone::keepsMade(GlobalId Global) const {
  ObjectId Known = Graph.knownGlobal(Global);
  if (Known == None)
    return false;
  for (auto [Offset, Cell] : Graph.object(Known).Cells)
    for (LocationId Each : Graph.pointees(Cell)) {
      const Content &Kept = content(Graph.at(Each).In);
      if (Graph.object(Graph.at(Each).In).Kind == ObjectKind::Heap &&
          (Kept.Source || Kept.Input || Kept.Fresh))
        return true;
    }
  return false;
}

/// True when a global points to the record that holds the handle.
bool Zone::keepsReader(ObjectId Global) const {
  for (auto [Offset, Cell] : Graph.object(Global).Cells)
    for (LocationId Each : Graph.pointees(Cell))
      if (ObjectId In = Graph.at(Each).In;
          Graph.object(In).Kind == ObjectKind::Heap && Contents[In].Handle)
        return true;
  return false;
}

/// True when function \p Id loads the handle from a member of the record \p Global, which is \p
/// What: "static struct { FILE *in; int line; } lexer". Other members say nothing.
static bool loadsHandle(const Program &P, const PointsTo &Graph, FunctionId Id, GlobalId Global,
                        const Object &What) {
  const FunctionInfo &F = P.function(Id);
  std::map<facts::Register, int64_t> Members;
  for (const Instruction &I : F.Body->Body) {
    if (I.Code == Op::AddressOf) {
      if (Entity Meant = P.entity(F, I.A); Meant.What == Entity::Global && Meant.Id == Global)
        Members[I.Dst] = 0;
      continue;
    }
    auto From = Members.find(I.A);
    if (I.Code == Op::Call || From == Members.end())
      continue;
    if (I.Code == Op::FieldOf)
      Members[I.Dst] = From->second + I.Delta;
    auto Cell = What.Cells.find(From->second);
    if (I.Code == Op::Load && Cell != What.Cells.end() && Graph.holds(Cell->second, Graph.handle()))
      return true;
  }
  return false;
}

/// A global that is itself the buffer, the cursor or the handle makes its users readers, and the
/// functions that call them, GlobalReaderDepth levels up. So does a member that is the handle.
void Zone::findGlobalReaders() {
  std::vector<FunctionId> Input, Handle;
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id) {
    if (P.function(Id).Body->Symbol == None)
      continue;
    for (GlobalId Global : GlobalsUsed[Id]) {
      const Shape &Type = P.globals()[Global].Type;
      if (Type.What == Core::Record && !Type.Pointers) {
        ObjectId Record = Graph.knownGlobal(Global);
        if (Record != None && content(Record).Handle &&
            loadsHandle(P, Graph, Id, Global, Graph.object(Record)))
          Handle.push_back(Id), Input.push_back(Id);
        continue;
      }
      const Content &Kept = content(Graph.globalObject(Global));
      bool Characters = Type.What == Core::Char && (Type.Array || Type.Pointers);
      bool Reader = Kept.Handle || keepsReader(Graph.globalObject(Global));
      if (Reader)
        Handle.push_back(Id);
      if (Reader || Kept.Buffer || (Kept.Input && Characters))
        Input.push_back(Id);
    }
  }
  spreadToCallers(Input, ReadsInputGlobal);
  spreadToCallers(Handle, ReadsHandleGlobal);
}

/// Marks \p Level and its callers, GlobalReaderDepth levels up.
void Zone::spreadToCallers(std::vector<FunctionId> Level, std::vector<bool> &Marked) const {
  llvm::erase_if(Level, [&](FunctionId Id) { return Marked[Id]; });
  for (FunctionId Id : Level)
    Marked[Id] = true;
  for (unsigned Depth = 0; Depth != GlobalReaderDepth; ++Depth) {
    std::vector<FunctionId> Above;
    for (FunctionId Id : Level)
      for (const CallSite &Site : Known.callers(Id))
        if (!Marked[Site.Caller]) {
          Marked[Site.Caller] = true;
          Above.push_back(Site.Caller);
        }
    Level = std::move(Above);
  }
}

} // namespace nvmove::solve
