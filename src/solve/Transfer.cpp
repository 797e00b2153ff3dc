// What calls of functions without a body do. See Zone.h and Externals.def.
#include "solve/Zone.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

using facts::Instruction;
using facts::Op;
using facts::Register;

namespace {

/// The type that the result of \p Call gets in the same function: by cast, or by the variable that
/// takes it. None when it stays generic.
facts::TypeId typeOfBirth(const FunctionInfo &F, const Instruction &Call) {
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

} // namespace

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
      if (At == Number)
        return Signature.slice(Start, I).trim().starts_with("const ");
      if (C == ')')
        return false;
      ++At;
      Start = I + 1;
    }
  }
  return false;
}

void Zone::typeAtBirth(PendingCall &Call, ObjectId Made, std::initializer_list<int> Sizes) {
  Site Here{Call.In, Call.Call};
  for (int Argument : Sizes)
    if (NodeId N = argumentNode(Call, Argument); N != None)
      for (LocationId Each : Graph.pointees(N))
        if (const Object &What = Graph.object(Graph.at(Each).In); What.Kind == ObjectKind::Size)
          Graph.setType(Made, What.Id, Here);
  if (!Graph.object(Made).Types.empty())
    return;
  const FunctionInfo &F = functionOf(Call.In);
  const Shape &Type = F.shapeOf(typeOfBirth(F, *Call.Call));
  if (Type.isPointerTo(Core::Record)) {
    Graph.setType(Made, Type.Record, Here);
    Graph.object(Made).Guessed = true;
  } else if (Type.Pointers && !Type.isPointerTo(Core::Void)) {
    Graph.object(Made).Bytes = true;
  }
}

bool Zone::allocate(PendingCall &Call, ObjectKind Kind, std::initializer_list<int> Sizes,
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
void Zone::fillBehind(PendingCall &Call, int From, int To) {
  for (int I = From; I < std::min<int>(To, Call.Call->ArgumentCount); ++I) {
    NodeId N = argumentNode(Call, I);
    if (N == None)
      continue;
    for (LocationId Each : Graph.snapshot(N)) {
      Location At = Graph.at(Each);
      const Object &What = Graph.object(At.In);
      if (!What.isMemory() || (At.In < Contents.size() && Contents[At.In].Handle))
        continue;
      // A pointer to one field fills that field; a pointer to the start or a buffer all of it.
      bool Whole = At.Offset == 0 || At.Offset == AnyOffset;
      if (Whole && !What.isOlder())
        Graph.fill(At.In, {Call.In, Call.Call});
      else
        Graph.add(Graph.cell(At.In, At.Offset), Graph.input());
    }
  }
}

/// memcpy and friends move objects when a size or the type of an argument says so, else characters.
void Zone::copyMemory(PendingCall &Call, int To, int From) {
  NodeId Target = argumentNode(Call, To), Source = argumentNode(Call, From);
  if (Target == None || Source == None)
    return;
  const FunctionInfo &F = functionOf(Call.In);
  bool Objects = false;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I) {
    Register R = argument(Call, I);
    if (R == None || R == facts::NullRegister)
      continue;
    const Shape &Type = F.shapeOf(F.Body->Registers[R]);
    Objects |= Type.Pointers > 1 || Type.isPointerTo(Core::Record);
    for (LocationId Each : Graph.pointees(node(Call.In, R)))
      Objects |= Graph.object(Graph.at(Each).In).Kind == ObjectKind::Size;
  }
  if (Objects)
    Graph.addCopyObject(Target, Source, 0, {Call.In, Call.Call});
  else
    Graph.addCopyBytes(Target, Source, {Call.In, Call.Call});
}

bool Zone::applyEffect(PendingCall &Call, const ExternalEffect &E) {
  size_t Now = argumentSize(Call);
  bool First = Call.Seen == 0;
  bool Grown = Now != Call.Seen;
  Call.Seen = Now;
  NodeId Result = resultNode(Call);
  auto Received = [&](int Number) {
    NodeId N = argumentNode(Call, Number);
    return N != None && (Graph.holds(N, Graph.handle()) || Graph.holds(N, Graph.input()));
  };
  switch (E.What) {
  case Effect::Open:
    if (!isTheInput(Call) || writesOnly(*Call.Call, E))
      return false;
    HandleSeen = true;
    if (First && Result != None)
      Graph.add(Result, Graph.handle());
    return First;
  case Effect::OpenAt:
    if (!isTheInput(Call))
      return false;
    HandleSeen = true;
    if (Grown && argumentNode(Call, E.A) != None)
      for (LocationId Each : Graph.snapshot(argumentNode(Call, E.A)))
        if (Graph.object(Graph.at(Each).In).isMemory())
          Graph.add(Graph.cell(Graph.at(Each).In, Graph.at(Each).Offset), Graph.handle());
    return Grown;
  case Effect::Map:
    if (allocate(Call, ObjectKind::Mapped, {}, Result)) {
      if (Received(E.A))
        Graph.fill(Call.Made, {Call.In, Call.Call});
      return true;
    }
    if (Received(E.A) && !Graph.filled().count(Call.Made)) {
      Graph.fill(Call.Made, {Call.In, Call.Call});
      return true;
    }
    return false;
  case Effect::Read:
    if (!Grown || !Received(E.B))
      return false;
    fillBehind(Call, E.A, E.A + 1);
    if (Result != None)
      Graph.add(Result, Graph.input());
    return true;
  case Effect::ReadValue:
    if (!Grown || !Received(E.B))
      return false;
    if (Result != None)
      Graph.add(Result, Graph.input());
    return true;
  case Effect::Allocate:
    return allocate(Call, ObjectKind::Heap, {E.A, E.B}, Result);
  case Effect::AllocateAt: {
    bool Changed = allocate(Call, ObjectKind::Heap, {E.B}, None);
    if (Grown && argumentNode(Call, E.A) != None)
      for (LocationId Each : Graph.snapshot(argumentNode(Call, E.A)))
        if (Graph.object(Graph.at(Each).In).isMemory())
          Graph.add(Graph.cell(Graph.at(Each).In, Graph.at(Each).Offset),
                    Graph.location(Call.Made, 0));
    return Changed || Grown;
  }
  case Effect::Resize:
    if (First && Result != None && argumentNode(Call, E.A) != None)
      Graph.addEdge(argumentNode(Call, E.A), Result);
    return allocate(Call, ObjectKind::Heap, {E.B, E.C}, Result) || First;
  case Effect::Duplicate:
    if (allocate(Call, ObjectKind::Heap, {}, Result)) {
      Graph.object(Call.Made).Bytes = true;
      if (Result != None && argumentNode(Call, E.A) != None)
        Graph.addCopyBytes(Result, argumentNode(Call, E.A), {Call.In, Call.Call});
      return true;
    }
    return false;
  case Effect::CopyBytes:
    if (!First)
      return false;
    copyMemory(Call, E.A, E.B);
    [[fallthrough]];
  case Effect::Within:
    if (First && Result != None && argumentNode(Call, E.A) != None)
      Graph.addShift(argumentNode(Call, E.A), Result, E.What == Effect::Within ? AnyOffset : 0);
    return First;
  case Effect::Parse: {
    bool Tainted = contact(Call);
    if (!Grown || !Tainted)
      return false;
    fillBehind(Call, 0, Call.Call->ArgumentCount);
    if (Result != None)
      Graph.add(Result, Graph.input());
    return true;
  }
  case Effect::Release:
    if (Grown && argumentNode(Call, E.A) != None)
      for (LocationId Each : Graph.snapshot(argumentNode(Call, E.A)))
        Graph.object(Graph.at(Each).In).Freed = true;
    return false;
  case Effect::Nothing:
  case Effect::Unknown:
    return false;
  }
  return false;
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
                 (In < Contents.size() && (Contents[In].Input || Contents[In].Handle) &&
                  !Graph.object(In).isOlder());
    }
  }
  if (Tainted) {
    llvm::StringRef Signature;
    if (Call.Call->Ty != None)
      Signature = F.unit().text(F.unit().Types[Call.Call->Ty].Spelling);
    for (int I = 0; I != Call.Call->ArgumentCount; ++I)
      if (NodeId N = argumentNode(Call, I); N != None && !Graph.holds(N, Graph.handle()) &&
                                            !parameterIsConst(Signature, I)) {
        for (LocationId Each : Graph.snapshot(N)) {
          Location At = Graph.at(Each);
          if (!Graph.object(At.In).isMemory() || Graph.object(At.In).isOlder() ||
              Contents[std::min<size_t>(At.In, Contents.size() - 1)].Handle)
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

/// Containers of libraries: what is given to an opaque object is kept by it and comes out of it.
void Zone::containerRule(PendingCall &Call) {
  const FunctionInfo &F = functionOf(Call.In);
  NodeId Container = None;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I) {
    Register R = argument(Call, I);
    if (R == None || R == facts::NullRegister)
      continue;
    const Shape &Given = F.shapeOf(F.Body->Registers[R]);
    bool Opaque = Given.isPointerTo(Core::Record) && (P.record(Given.Record).System ||
                                                      !P.record(Given.Record).Complete);
    if (Container == None && Opaque)
      Container = node(Call.In, R);
    else if (Container != None && Given.Pointers == 1)
      Graph.addStore(Container, node(Call.In, R), {Call.In, Call.Call});
  }
  if (Container != None && resultNode(Call) != None)
    Graph.addLoad(Container, resultNode(Call), F.shapeOf(F.Body->Registers[Call.Call->Dst]), None,
                  {Call.In, Call.Call});
}

/// Functions handed to a library are called with whatever else it was handed.
bool Zone::callBack(PendingCall &Call) {
  std::set<FunctionId> Targets;
  for (int I = 0; I != Call.Call->ArgumentCount; ++I)
    if (NodeId N = argumentNode(Call, I); N != None)
      for (LocationId Each : Graph.pointees(N))
        if (const Object &What = Graph.object(Graph.at(Each).In);
            What.Kind == ObjectKind::Function)
          Targets.insert(What.Id);
  if (Targets.empty() || !contact(Call))
    return false;
  for (FunctionId Target : Targets) {
    if (Known.noReturn(Target) || Known.formats(Target) || !Call.Linked.insert(Target).second)
      continue;
    InstanceId Callee = enter(Target, {Call.In, Call.Call}, true);
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
