// See SharedNumbers.h.
#include "plan/SharedNumbers.h"

#include "solve/summary/Signature.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::plan {

using facts::Instruction;
using facts::Op;
using facts::Register;

SharedNumbers::SharedNumbers(const Program &P, const Inference &Known, const Everything &All,
                             const Moved &What)
    : P(P), OfOne(P), All(All), Graph(All.graph()), What(What) {
  for (Cell Each : What.roots())
    Leading.insert(Each.In);
  for (InstanceId In = 0; In != All.instances(); ++In)
    if (All.visits().functionOf(In).Body->Symbol != None && (What.loads(In) || What.runs(In)))
      look(In);
  lookAtAllocators(Known);
}

/// Functions that allocate for others are not visited: what they count they set in both.
void SharedNumbers::lookAtAllocators(const Inference &Known) {
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id) {
    const FunctionInfo &F = P.function(Id);
    Effect Does = Known.standsFor(Id).What;
    if (Does != Effect::Allocate && Does != Effect::Resize)
      continue;
    std::map<Register, GlobalId> Variables;
    for (const Instruction &I : F.Body->Body)
      if (Entity Of = I.Code == Op::AddressOf ? P.entity(F, I.A) : Entity();
          Of.What == Entity::Global)
        Variables[I.Dst] = Of.Id;
    for (const Instruction &I : F.Body->Body)
      if (auto At = Variables.find(I.A);
          I.Code == Op::Store && !F.shapeOf(I.Ty).Pointers && At != Variables.end())
        if (ObjectId Of = Graph.knownGlobal(At->second); Of != None && !Graph.object(Of).Constant)
          Set.try_emplace({Of, 0}, SourcePlace{F.unit().text(I.Where.File), I.Where.Line, 0});
  }
}

/// True when \p In itself stores to what moves, or to a root.
bool SharedNumbers::changesData(InstanceId In) const {
  return llvm::any_of(All.visits().functionOf(In).Body->Body, [&](const Instruction &I) {
    NodeId N = All.visits().node(In, I.A);
    return (I.Code == Op::Store || I.Code == Op::CopyObject) && N != None &&
           anyOf(Graph.pointees(N), [&](LocationId Each) {
             Location At = Graph.at(Each);
             return (What.moves(At.In) && !What.isBytes(At.In)) ||
                    What.roots().count({At.In, At.Offset}) != 0;
           });
  });
}

/// Cells of variables that are no constants and not of a type of the system (locks, clocks).
template <typename Take>
void SharedNumbers::eachCell(InstanceId In, Register Address, Take Do) const {
  if (NodeId N = All.visits().node(In, Address); N != None)
    for (LocationId Each : Graph.pointees(N)) {
      Cell At{Graph.at(Each).In, Graph.at(Each).Offset};
      const Object &Of = Graph.object(At.In);
      bool Systems =
          Of.Type.What == Core::Record && !Of.Type.Pointers && P.record(Of.Type.Record).System;
      if (Of.Kind == ObjectKind::Global && !Of.Constant && !Systems)
        Do(At);
    }
}

void SharedNumbers::look(InstanceId In) {
  const FunctionInfo &F = All.visits().functionOf(In);
  FunctionId Its = All.functionOf(In);
  bool Loads = What.loads(In) && !OfOne.isHandler(Its);
  bool Runs = What.runs(In), Changes = Runs && changesData(In);
  for (const Instruction &I : F.Body->Body) {
    if (I.Code == Op::Call) {
      lookAtCall(In, I, Loads, Changes);
      continue;
    }
    bool Stores = I.Code == Op::Store || I.Code == Op::CopyObject;
    if (!Stores && I.Code != Op::Load)
      continue;
    if (F.shapeOf(I.Ty).Pointers) {
      if (Runs)
        eachCell(In, I.A, [&](Cell At) {
          (Stores ? OwnPointers : UsedPointers).insert(At);
          PointersIn[In].insert(At);
        });
      if (Loads && Stores)
        lookAtPointer(In, I);
      continue;
    }
    if (llvm::StringRef Maker = OfOne.maker(Its, I.B); I.Code == Op::Store && !Maker.empty()) {
      if (Loads)
        eachCell(In, I.A, [&](Cell At) {
          Process.try_emplace(At.In, OfProcess{What.placeOf({In, &I}), Maker});
        });
      continue;
    }
    eachCell(In, I.A, [&](Cell At) {
      if (Loads && Stores)
        Set.try_emplace(At, What.placeOf({In, &I}));
      if (Runs)
        Used.insert(At);
      if (Runs && Stores)
        Own.insert(At);
      if (Stores && (Changes || (Runs && Leading.count(At.In)))) {
        Kept.try_emplace(At, What.placeOf({In, &I}));
        KeptIn[At].insert(In);
      }
    });
    if (I.Code == Op::CopyObject && Runs)
      eachCell(In, I.B, [&](Cell At) { Used.insert(At); });
  }
}

/// Pointers to texts are stored as no value.
void SharedNumbers::lookAtPointer(InstanceId In, const Instruction &I) {
  const Shape &Type = All.visits().functionOf(In).shapeOf(I.Ty);
  bool IsText = I.B == None && Type.What == Core::Char && Type.Pointers == 1;
  NodeId Value = All.visits().node(In, I.B);
  bool IsStatic = Value != None && anyOf(Graph.pointees(Value), [&](LocationId Each) {
                    ObjectKind Kind = Graph.object(Graph.at(Each).In).Kind;
                    return Kind == ObjectKind::Global || Kind == ObjectKind::Function;
                  });
  if (IsText || IsStatic)
    eachCell(In, I.A, [&](Cell At) {
      if (leadsToStatics(At))
        SetPointers.try_emplace(At, What.placeOf({In, &I}));
    });
}

/// False where the variable leads to memory, or to what nobody knows.
bool SharedNumbers::leadsToStatics(Cell At) const {
  const auto &Cells = Graph.object(At.In).Cells;
  auto Found = Cells.find(At.Offset);
  return Found == Cells.end() || !anyOf(Graph.pointees(Found->second), [&](LocationId Each) {
           ObjectKind Kind = Graph.object(Graph.at(Each).In).Kind;
           return Kind != ObjectKind::Global && Kind != ObjectKind::Function;
         });
}

/// Of a function without a body: by its type, and beyond its parameters by its name.
bool SharedNumbers::mayWrite(InstanceId In, const Instruction &Call, unsigned Argument) const {
  const FunctionInfo &F = All.visits().functionOf(In);
  llvm::StringRef Name, Signature;
  if (Call.A != None)
    if (Entity Callee = P.entity(F, Call.A); Callee.What == Entity::External)
      Name = P.externals()[Callee.Id].Name;
  if (Call.Ty != None)
    Signature = F.unit().text(F.unit().Types[Call.Ty].Spelling);
  bool Variadic = Signature.contains("...");
  unsigned Declared = static_cast<unsigned>(Signature.count(',')) + (Variadic ? 0 : 1);
  if (Variadic && Argument >= Declared)
    return Name.contains("scanf");
  return !parameterIsConst(Signature, Argument);
}

void SharedNumbers::lookAtCall(InstanceId In, const Instruction &Call, bool Loads, bool Changes) {
  const FunctionInfo &F = All.visits().functionOf(In);
  Entity Callee;
  if (Call.A != None)
    Callee = P.entity(F, Call.A);
  if (Callee.What != Entity::External)
    return;
  Effect Does = effectOf(P.externals()[Callee.Id].Name).What;
  for (unsigned I = 0; I != Call.ArgumentCount; ++I)
    eachCell(In, F.Body->Arguments[Call.FirstArgument + I], [&](Cell At) {
      const Shape &Type = Graph.object(At.In).Type;
      bool Writes = mayWrite(In, Call, I);
      if (Loads && Writes)
        Set.try_emplace(At, What.placeOf({In, &Call}));
      if (!What.runs(In))
        return;
      Used.insert(At);
      if (Does == Effect::Read && Writes && Type.What == Core::Char && Type.Array)
        Buffers.insert(At.In);
      if (!Writes || Type.Pointers)
        return;
      Own.insert(At);
      if (Changes || Leading.count(At.In))
        Kept.try_emplace(At, What.placeOf({In, &Call}));
    });
}

/// An array on the heap, no text, that the running program alone makes and that does not move.
bool SharedNumbers::isLeftOut(Cell Pointer) const {
  if (!OwnPointers.count(Pointer) || !UsedPointers.count(Pointer) || What.roots().count(Pointer) ||
      What.alsoRoots().count(Pointer))
    return false;
  const Object &Of = Graph.object(Pointer.In);
  auto Found = Of.Cells.find(Pointer.Offset);
  return Of.Type.What != Core::Char && Found != Of.Cells.end() &&
         anyOf(Graph.pointees(Found->second), [&](LocationId Each) {
           return Graph.object(Graph.at(Each).In).Kind == ObjectKind::Heap;
         });
}

/// The count of an array that a restart does not have: one without the other would be wrong.
bool SharedNumbers::goesWithLeftOut(Cell At) const {
  auto Where = KeptIn.find(At);
  return Where != KeptIn.end() && !Set.count(At) && !Leading.count(At.In) &&
         llvm::any_of(Where->second, [&](InstanceId In) {
           auto Pointers = PointersIn.find(In);
           return Pointers != PointersIn.end() &&
                  llvm::any_of(Pointers->second, [&](Cell Each) { return isLeftOut(Each); });
         });
}

std::set<ObjectId> SharedNumbers::others() const {
  std::set<ObjectId> Found;
  for (Cell Each : Own)
    if (Used.count(Each) && !Set.count(Each) && !Buffers.count(Each.In))
      Found.insert(Each.In);
  for (Cell Each : OwnPointers)
    if (UsedPointers.count(Each))
      Found.insert(Each.In);
  return Found;
}

std::map<Cell, SourcePlace> SharedNumbers::cells() const {
  std::map<Cell, SourcePlace> Found;
  for (const auto &[At, Where] : Kept)
    if (Used.count(At) && !Buffers.count(At.In) && !goesWithLeftOut(At))
      Found.emplace(At, Where);
  for (const auto &[At, Where] : Set)
    if (Used.count(At) && !Buffers.count(At.In))
      Found.emplace(At, Where);
  for (const auto &[At, Where] : SetPointers)
    if (UsedPointers.count(At) && leadsToStatics(At))
      Found.emplace(At, Where);
  return Found;
}

} // namespace nvmove::plan
