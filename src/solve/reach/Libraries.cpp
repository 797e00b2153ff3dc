// Library functions that stand in no table: outputs, containers, callbacks. See CallEffects.h and
// Externals.def.
#include "solve/reach/CallEffects.h"
#include "solve/summary/Signature.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

using facts::Register;

/// The text of the called function's type.
llvm::StringRef CallEffects::signature(const PendingCall &Call) const {
  const facts::TranslationUnit &Unit = V.functionOf(Call.In).unit();
  if (Call.Call->Ty == None)
    return {};
  return Unit.text(Unit.Types[Call.Call->Ty].Spelling);
}

/// A library function that nobody described: see the rule at the end of Externals.def.
bool CallEffects::applyGeneralRule(PendingCall &Call) {
  size_t Now = Kept.argumentSize(Call);
  bool First = Call.Seen == 0;
  if (Call.Seen == Now)
    return false;
  Call.Seen = Now;
  const FunctionInfo &F = V.functionOf(Call.In);
  NodeId Result = V.resultNode(Call);
  bool Tainted = false;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I) {
    NodeId N = V.argumentNode(Call, I);
    if (N == None)
      continue;
    for (LocationId Each : Graph.pointees(N)) {
      ObjectId In = Graph.at(Each).In;
      Tainted |= Each == Graph.input() || Each == Graph.handle() ||
                 ((Kept.of(In).Input || Kept.of(In).Handle) && !Graph.object(In).isOlder());
    }
  }
  if (Tainted) {
    llvm::StringRef Signature = signature(Call);
    for (int I = 0; I != Call.Call->ArgumentCount; ++I)
      if (NodeId N = V.argumentNode(Call, I);
          N != None && !Graph.holds(N, Graph.handle()) && !parameterIsConst(Signature, I)) {
        for (LocationId Each : Graph.snapshot(N)) {
          Location At = Graph.at(Each);
          if (!Graph.object(At.In).isMemory() || Graph.object(At.In).isOlder() ||
              Kept.of(At.In).Handle)
            continue;
          Graph.add(Graph.cell(At.In, At.Offset), Graph.input());
        }
      }
    if (Result != None)
      Graph.add(Result, Graph.input());
  }
  if (First && Result != None) {
    const Shape &Type = F.shapeOf(F.Body->Registers[Call.Call->Dst]);
    if (Type.Pointers == 1 && Type.What != Core::Function && Type.What != Core::Other)
      allocate(Call, ObjectKind::Heap, {}, Result);
    for (int I = 0; I != Call.Call->ArgumentCount; ++I)
      if (Register R = V.argument(Call, I); R != None && R != facts::NullRegister) {
        const Shape &Given = F.shapeOf(F.Body->Registers[R]);
        if (Type.Pointers == 1 && Given.Pointers == 1 && Given.What == Type.What &&
            Given.Record == Type.Record)
          Graph.addShift(V.node(Call.In, R), Result, AnyOffset);
      }
  }
  if (First)
    containerRule(Call);
  callBack(Call);
  return true;
}

/// True when \p N is the address of a variable that holds a void pointer.
bool CallEffects::pointsToGeneric(NodeId N) const {
  for (LocationId Each : Graph.pointees(N))
    if (const Object &What = Graph.object(Graph.at(Each).In);
        (What.Kind == ObjectKind::Global || What.Kind == ObjectKind::Stack) &&
        What.Type.isPointerTo(Core::Void))
      return true;
  return false;
}

/// A record that only its library looks into.
bool CallEffects::isForeign(const Shape &Type) const {
  return Type.isPointerTo(Core::Record) &&
         (P.record(Type.Record).System || !P.record(Type.Record).Complete);
}

/// Containers of libraries: what is given to an opaque object is kept by it and comes out of it.
/// One that is returned keeps it, too: "list = append(list, item)" may begin with an empty list.
void CallEffects::containerRule(PendingCall &Call) {
  const FunctionInfo &F = V.functionOf(Call.In);
  llvm::StringRef Signature = signature(Call);
  int Container = -1, Source = -1;
  bool Keys = false; // An opaque container only looks at what it takes as const.
  auto Given = [&](int I) {
    Register R = V.argument(Call, I);
    if (R == None || R == facts::NullRegister)
      return Shape();
    Shape Type = F.shapeOf(F.Body->Registers[R]);
    Type.Pointers += F.Body->Registers[R] == None; // The address of a variable.
    return Type;
  };
  for (int I = 0; I != Call.Call->ArgumentCount && Container < 0; ++I)
    if (V.argumentNode(Call, I) != None) {
      bool Root = pointsToGeneric(V.argumentNode(Call, I)); // tsearch(key, &root, compare)
      bool Foreign = isForeign(Given(I));
      if (Root || (Foreign && !parameterIsConst(Signature, I)))
        Container = I;
      if (Source < 0 && (Root || Foreign))
        Source = I;
      Keys = !Root;
    }
  NodeId Result = V.resultNode(Call);
  std::vector<NodeId> Keepers;
  if (Container >= 0)
    Keepers.push_back(V.argumentNode(Call, Container));
  if (Result != None && isForeign(F.shapeOf(F.Body->Registers[Call.Call->Dst])))
    Keepers.push_back(Result);
  Site Here{Call.In, Call.Call};
  auto Table = [&](int I) { // Of callbacks, in a record that the library declares.
    bool Found = false;
    if (NodeId N = V.argumentNode(Call, I); N != None)
      for (LocationId Each : Graph.pointees(N))
        Found |= isLibrarys(Graph.at(Each).In);
    return Found;
  };
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (I != Container &&
        (Table(I) || (Given(I).Pointers == 1 && (!Keys || !parameterIsConst(Signature, I)))))
      for (NodeId Keeper : Keepers)
        Graph.addStore(Keeper, V.argumentNode(Call, I), Shape(), Here);
  if (Result != None && Source >= 0)
    Graph.addLoad(V.argumentNode(Call, Source), Result,
                  F.shapeOf(F.Body->Registers[Call.Call->Dst]), None, Here);
}

/// A record that only a library looks into, or that a library declares: its objects are its own.
bool CallEffects::isLibrarys(ObjectId Id) const {
  const Object &What = Graph.object(Id);
  return What.isMemory() && llvm::any_of(What.Types, [&](RecordKey Key) {
           return P.record(Key).System || !P.record(Key).Complete;
         });
}

/// The functions that an object of a library keeps. Of those that were handed over one by one, the
/// ones that take nothing but void pointers are hooks of a container: they compare and free.
void CallEffects::keptCallbacks(ObjectId Id, bool Nested, std::set<FunctionId> &Found) const {
  for (auto [Offset, Cell] : Graph.object(Id).Cells)
    for (LocationId Each : Graph.pointees(Cell)) {
      ObjectId In = Graph.at(Each).In;
      const Object &What = Graph.object(In);
      if (What.Kind == ObjectKind::Function) {
        const FunctionInfo &F = P.function(What.Id);
        bool Typed = P.record(*Graph.object(Id).Types.begin()).Complete;
        for (unsigned I = 0; I != F.Body->ParameterCount && !Typed; ++I)
          Typed = F.parameter(I).Pointers && !F.parameter(I).isPointerTo(Core::Void);
        if (Typed)
          Found.insert(What.Id);
      } else if (!Nested && In != Id && isLibrarys(In)) {
        keptCallbacks(In, /*Nested=*/true, Found);
      }
    }
}

/// Functions handed to a library, now or earlier with an object of its own, are called with
/// whatever else it was handed.
void CallEffects::callBack(PendingCall &Call) {
  std::set<FunctionId> Targets;
  std::vector<NodeId> Objects; // That keep what the callbacks are given.
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (NodeId N = V.argumentNode(Call, I); N != None) {
      size_t Before = Targets.size();
      for (LocationId Each : Graph.pointees(N)) {
        ObjectId In = Graph.at(Each).In;
        if (const Object &What = Graph.object(In); What.Kind == ObjectKind::Function)
          Targets.insert(What.Id);
        else if (isLibrarys(In))
          keptCallbacks(In, /*Nested=*/false, Targets);
      }
      if (Targets.size() != Before)
        Objects.push_back(N);
    }
  if (Targets.empty() || !Kept.carriesInput(Call, Look::First))
    return;
  for (FunctionId Target : Targets) {
    if (Known.noReturn(Target) || Known.formats(Target) || !Call.Followed.insert(Target).second)
      continue;
    InstanceId Callee = V.enter(Target, {Call.In, Call.Call}, /*Contact=*/true, /*Removed=*/0);
    const FunctionInfo &F = P.function(Target);
    for (unsigned To = 0; To != F.Body->ParameterCount; ++To) {
      if (!F.parameter(To).Pointers)
        continue;
      for (int I = 0; I != Call.Call->ArgumentCount; ++I)
        if (NodeId N = V.argumentNode(Call, I); N != None)
          Graph.addEdge(N, V.node(Callee, To));
      for (NodeId N : Objects)
        Graph.addLoad(N, V.node(Callee, To), F.parameter(To), None, {Call.In, Call.Call});
    }
  }
}

} // namespace nvmove::solve
