// The nearest open, the way to it, parameters and globals that are the input. See InputSources.h.
#include "solve/reach/InputSources.h"

#include "solve/Heuristics.h"
#include "solve/summary/Handles.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

using facts::Instruction;
using facts::Op;

InputSources::InputSources(const Program &P, const Inference &Known, const FunctionFlow &Flow,
                           Visits &V, const Contents &Kept)
    : P(P), Known(Known), Flow(Flow), V(V), Kept(Kept), ReadsInput(P.functions().size()),
      ReadsHandle(P.functions().size()), GlobalsUsed(P.functions().size()) {
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    for (const Instruction &I : P.function(Id).Body->Body)
      if (I.Code == Op::AddressOf)
        if (Entity Meant = P.entity(P.function(Id), I.A); Meant.What == Entity::Global)
          GlobalsUsed[Id].push_back(Meant.Id);
}

void InputSources::find() {
  measure();
  InputGiven = seedParameters(/*Guess=*/NearestOpen > OpenNear && NearestOpen != ~0u);
  findWay();
}

/// True for a pointer to a record that keeps a place in a text: what streams look like.
bool InputSources::looksLikeStream(const Shape &Parameter) const {
  if (!Parameter.isPointerTo(Core::Record))
    return false;
  return llvm::any_of(P.record(Parameter.Record).Fields, [](const RecordField &Field) {
    return Field.Type.isPointerTo(Core::Char) && !Field.Type.Array;
  });
}

/// Parameters of the load functions that are the input: the ones that are read from, or on \p Guess
/// all that could be, of several the ones that look like it. True when there are any.
bool InputSources::seedParameters(bool Guess) {
  std::vector<std::set<unsigned>> Handles = handleParameters(P, Known, Flow);
  bool Any = false;
  for (InstanceId Load : V.loads()) {
    const FunctionInfo &F = V.functionOf(Load);
    bool Streams = false;
    for (unsigned I = 0; I != F.Body->ParameterCount; ++I)
      Streams |= looksLikeStream(F.parameter(I));
    for (unsigned I = 0; I != F.Body->ParameterCount; ++I) {
      const Shape &Parameter = F.parameter(I);
      bool Library = Parameter.isPointerTo(Core::Record) && P.record(Parameter.Record).System;
      if (Library || Handles[V.instance(Load).Function].count(I) ||
          (Guess && !Parameter.isPointerTo(Core::Char) &&
           (!Streams || looksLikeStream(Parameter)))) {
        V.graph().add(V.node(Load, I), V.graph().handle());
        Any = true;
      }
    }
  }
  return Any;
}

/// True when a direct call in \p Id opens or maps something that can be read.
bool InputSources::opens(FunctionId Id) const {
  const FunctionInfo &F = P.function(Id);
  return llvm::any_of(F.Body->Body, [&](const Instruction &I) {
    if (I.Code != Op::Call || I.A == None)
      return false;
    ExternalEffect E = Known.effect(P.entity(F, I.A));
    return (E.What == Effect::Open && !writesOnly(I, E)) || E.What == Effect::OpenAt ||
           E.What == Effect::Map;
  });
}

/// Breadth first over direct calls: how far every function is, and where the nearest open is.
void InputSources::measure() {
  Distance.assign(P.functions().size(), ~0u);
  std::vector<FunctionId> Work;
  for (InstanceId Load : V.loads()) {
    Work.push_back(V.instance(Load).Function);
    Distance[Work.back()] = 0;
  }
  for (size_t At = 0; At != Work.size(); ++At) {
    FunctionId Caller = Work[At];
    if (opens(Caller))
      NearestOpen = std::min(NearestOpen, Distance[Caller]);
    forEachCall(P, Known, Flow, Caller, [&](const Instruction &, FunctionId Callee) {
      if (Distance[Callee] != ~0u || Known.noReturn(Callee) || Known.formats(Callee))
        return;
      Distance[Callee] = Distance[Caller] + 1;
      Work.push_back(Callee);
    });
  }
}

/// Functions between the load functions and the nearest opens.
void InputSources::findWay() {
  OnTheWay.assign(P.functions().size(), false);
  if (NearestOpen == ~0u || InputGiven)
    return;
  auto Near = [&](FunctionId Id) { return Distance[Id] <= NearestOpen + 1; };
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    OnTheWay[Id] = Near(Id) && opens(Id);
  // Outwards level by level: a caller is on the way when one of its callees is.
  for (unsigned Level = 0; Level <= NearestOpen; ++Level)
    for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
      if (Near(Id) && !OnTheWay[Id])
        forEachCall(P, Known, Flow, Id, [&](const Instruction &, FunctionId Callee) {
          if (OnTheWay[Callee])
            OnTheWay[Id] = true;
        });
}

/// A program may try several opens, one wrapper deep: the nearest and its neighbours count.
bool InputSources::isTheInput(const PendingCall &Call) const {
  unsigned Far = Distance[V.instance(Call.In).Function];
  return !InputGiven && (NearestOpen == ~0u || Far == ~0u || Far <= NearestOpen + 1);
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
void InputSources::findGlobalReaders() {
  PointsTo &Graph = V.graph();
  std::vector<FunctionId> Input, Handle;
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id) {
    if (P.function(Id).Body->Symbol == None)
      continue;
    for (GlobalId Global : GlobalsUsed[Id]) {
      const Shape &Type = P.globals()[Global].Type;
      if (Type.What == Core::Record && !Type.Pointers) {
        ObjectId Record = Graph.knownGlobal(Global);
        if (Record != None && Kept.of(Record).Handle &&
            loadsHandle(P, Graph, Id, Global, Graph.object(Record)))
          Handle.push_back(Id), Input.push_back(Id);
        continue;
      }
      const Content &Holds = Kept.of(Graph.globalObject(Global));
      bool Characters = Type.What == Core::Char && (Type.Array || Type.Pointers);
      bool Reader = Holds.Handle || Kept.keepsReader(Graph.globalObject(Global));
      if (Reader)
        Handle.push_back(Id);
      if (Reader || Holds.Buffer || (Holds.Input && Characters))
        Input.push_back(Id);
    }
  }
  spreadToCallers(Input, ReadsInput);
  spreadToCallers(Handle, ReadsHandle);
}

/// Marks \p Level and its callers, GlobalReaderDepth levels up.
void InputSources::spreadToCallers(std::vector<FunctionId> Level, std::vector<bool> &Marked) const {
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
