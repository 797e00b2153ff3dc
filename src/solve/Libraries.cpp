// Library functions that stand in no table: outputs, containers, callbacks. See Externals.def.
#include "solve/Zone.h"

namespace nvmove::solve {

using facts::Register;

bool parameterIsConst(llvm::StringRef Signature, unsigned Number) {
  size_t Open = Signature.find('(');
  if (Open == llvm::StringRef::npos)
    return false;
  unsigned Depth = 0, At = 0;
  size_t Start = Open + 1;
  for (size_t I = Start; I < Signature.size(); ++I) {
    char C = Signature[I];
    if (C == '(')
      ++Depth;
    else if (C == ')' && Depth)
      --Depth;
    else if ((C == ',' || C == ')') && !Depth) {
      if (At == Number) { // Of "const char **" only what lies two pointers away is const.
        llvm::StringRef Parameter = Signature.slice(Start, I).trim();
        return Parameter.starts_with("const ") && Parameter.count('*') == 1;
      }
      if (C == ')')
        return false;
      ++At;
      Start = I + 1;
    }
  }
  return false;
}

/// The text of the called function's type.
llvm::StringRef Zone::signature(const PendingCall &Call) const {
  const facts::TranslationUnit &Unit = functionOf(Call.In).unit();
  if (Call.Call->Ty == None)
    return {};
  return Unit.text(Unit.Types[Call.Call->Ty].Spelling);
}

/// A library function that nobody described: see the rule at the end of Externals.def.
bool Zone::generalRule(PendingCall &Call, ExternalId Callee) {
  size_t Now = argumentSize(Call);
  bool First = Call.Seen == 0;
  if (Call.Seen == Now)
    return false;
  Call.Seen = Now;
  const FunctionInfo &F = functionOf(Call.In);
  NodeId Result = resultNode(Call);
  bool Tainted = false;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I) {
    NodeId N = argumentNode(Call, I);
    if (N == None)
      continue;
    for (LocationId Each : Graph.pointees(N)) {
      ObjectId In = Graph.at(Each).In;
      Tainted |= Each == Graph.input() || Each == Graph.handle() ||
                 ((content(In).Input || content(In).Handle) && !Graph.object(In).isOlder());
    }
  }
  if (Tainted) {
    llvm::StringRef Signature = signature(Call);
    for (int I = 0; I != Call.Call->ArgumentCount; ++I)
      if (NodeId N = argumentNode(Call, I);
          N != None && !Graph.holds(N, Graph.handle()) && !parameterIsConst(Signature, I)) {
        for (LocationId Each : Graph.snapshot(N)) {
          Location At = Graph.at(Each);
          if (!Graph.object(At.In).isMemory() || Graph.object(At.In).isOlder() ||
              content(At.In).Handle)
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
      if (Register R = argument(Call, I); R != None && R != facts::NullRegister) {
        const Shape &Given = F.shapeOf(F.Body->Registers[R]);
        if (Type.Pointers == 1 && Given.Pointers == 1 && Given.What == Type.What &&
            Given.Record == Type.Record)
          Graph.addShift(node(Call.In, R), Result, AnyOffset);
      }
  }
  if (First)
    containerRule(Call);
  callBack(Call);
  return true;
}

/// True when \p N is the address of a variable that holds a void pointer.
bool Zone::pointsToGeneric(NodeId N) const {
  for (LocationId Each : Graph.pointees(N))
    if (const Object &What = Graph.object(Graph.at(Each).In);
        (What.Kind == ObjectKind::Global || What.Kind == ObjectKind::Stack) &&
        What.Type.isPointerTo(Core::Void))
      return true;
  return false;
}

/// A record that only its library looks into.
bool Zone::isForeign(const Shape &Type) const {
  return Type.isPointerTo(Core::Record) &&
         (P.record(Type.Record).System || !P.record(Type.Record).Complete);
}

/// Containers of libraries: what is given to an opaque object is kept by it and comes out of it.
/// One that is returned keeps it, too: "list = append(list, item)" may begin with an empty list.
void Zone::containerRule(PendingCall &Call) {
  const FunctionInfo &F = functionOf(Call.In);
  int Container = -1;
  bool Keys = false; // An opaque container only looks at what it takes as const.
  for (int I = 0; I != Call.Call->ArgumentCount && Container < 0; ++I)
    if (Register R = argument(Call, I); R != None && R != facts::NullRegister) {
      const Shape &Given = F.shapeOf(F.Body->Registers[R]);
      bool Root = pointsToGeneric(node(Call.In, R)); // tsearch(key, &root, compare)
      if (Root || isForeign(Given))
        Container = I;
      Keys = !Root;
    }
  NodeId Result = resultNode(Call);
  std::vector<NodeId> Keepers;
  if (Container >= 0)
    Keepers.push_back(argumentNode(Call, Container));
  if (Result != None && isForeign(F.shapeOf(F.Body->Registers[Call.Call->Dst])))
    Keepers.push_back(Result);
  Site Here{Call.In, Call.Call};
  llvm::StringRef Signature = signature(Call);
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (Register R = argument(Call, I); I != Container && R != None && R != facts::NullRegister &&
                                        !(Keys && parameterIsConst(Signature, I)))
      if (F.shapeOf(F.Body->Registers[R]).Pointers == 1)
        for (NodeId Keeper : Keepers)
          Graph.addStore(Keeper, node(Call.In, R), Shape(), Here);
  if (Result != None && Container >= 0)
    Graph.addLoad(Keepers.front(), Result, F.shapeOf(F.Body->Registers[Call.Call->Dst]), None,
                  Here);
}

/// Functions handed to a library are called with whatever else it was handed.
bool Zone::callBack(PendingCall &Call) {
  std::set<FunctionId> Targets;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (NodeId N = argumentNode(Call, I); N != None)
      for (LocationId Each : Graph.pointees(N))
        if (const Object &What = Graph.object(Graph.at(Each).In); What.Kind == ObjectKind::Function)
          Targets.insert(What.Id);
  if (Targets.empty() || !carriesInput(Call, Look::First))
    return false;
  for (FunctionId Target : Targets) {
    if (Known.noReturn(Target) || Known.formats(Target) || !Call.Followed.insert(Target).second)
      continue;
    InstanceId Callee = enter(Target, {Call.In, Call.Call}, /*Contact=*/true, /*Removed=*/0);
    const FunctionInfo &F = P.function(Target);
    for (unsigned To = 0; To != F.Body->ParameterCount; ++To) {
      if (!F.parameter(To).Pointers)
        continue;
      for (int I = 0; I != Call.Call->ArgumentCount; ++I)
        if (NodeId N = argumentNode(Call, I); N != None)
          Graph.addEdge(N, node(Callee, To));
    }
  }
  return true;
}

} // namespace nvmove::solve
