// See FunctionFlow.h.
#include "solve/summary/FunctionFlow.h"

#include "llvm/ADT/STLExtras.h"

#include <deque>

namespace nvmove::solve {

using facts::Instruction;
using facts::Op;
using facts::Register;

namespace {
enum SlotKind : uint64_t { InRegister = 1, InField = 2, InGlobal = 3, Returned = 4 };
}

FunctionFlow::FunctionFlow(const Program &P) : P(P) {
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    collect(Id);
  propagate();
}

FunctionFlow::Slot FunctionFlow::slot(uint64_t Kind, uint64_t Key) {
  auto [It, New] = Slots.try_emplace({Kind, Key}, static_cast<Slot>(Held.size()));
  if (New) {
    Held.emplace_back();
    Fresh.emplace_back();
    Edges.emplace_back();
  }
  return It->second;
}

FunctionFlow::Slot FunctionFlow::registerSlot(FunctionId In, Register R) {
  return slot(InRegister, static_cast<uint64_t>(In) << 32 | R);
}

void FunctionFlow::edge(Slot From, Slot To) {
  if (From != None && To != None && From != To)
    Edges[From].push_back(To);
}

bool FunctionFlow::mayHoldFunction(const FunctionInfo &F, Register R) const {
  if (R == None || R == facts::NullRegister)
    return false;
  if (F.Body->Registers[R] == None)
    return true;
  const Shape &S = F.shapeOf(F.Body->Registers[R]);
  return S.Pointers >= 1 && S.What == Core::Function;
}

FunctionFlow::Slot FunctionFlow::memorySlot(FunctionId In,
                                            const std::vector<const Instruction *> &Defined,
                                            Register Address) {
  const Instruction *Def = Address < Defined.size() ? Defined[Address] : nullptr;
  for (unsigned Steps = 0; Def && Steps != 8; ++Steps) {
    const FunctionInfo &F = P.function(In);
    if (Def->Code == Op::FieldOf)
      return slot(InField, static_cast<uint64_t>(F.View->Shapes[Def->Ty].Record) << 32 | Def->B);
    if (Def->Code == Op::AddressOf) {
      Entity Meant = P.entity(F, Def->A);
      if (Meant.What == Entity::Global)
        return slot(InGlobal, Meant.Id);
      if (Meant.What == Entity::Local)
        return slot(InGlobal, static_cast<uint64_t>(In + 1) << 32 | Meant.Id);
      return None;
    }
    if (Def->Code != Op::Copy && Def->Code != Op::Cast)
      return None;
    Def = Def->A < Defined.size() ? Defined[Def->A] : nullptr;
  }
  return None;
}

void FunctionFlow::collect(FunctionId Id) {
  const FunctionInfo &F = P.function(Id);
  std::vector<const Instruction *> Defined(F.Body->Registers.size());
  for (const Instruction &I : F.Body->Body)
    if (I.Dst != None)
      Defined[I.Dst] = &I;
  for (const Instruction &I : F.Body->Body) {
    switch (I.Code) {
    case Op::AddressOf:
      if (Entity Meant = P.entity(F, I.A); Meant.What == Entity::Function) {
        Slot S = registerSlot(Id, I.Dst);
        Fresh[S].set(Meant.Id);
        std::vector<FunctionId> &Same = Taken[P.function(Meant.Id).Signature];
        if (!llvm::is_contained(Same, Meant.Id))
          Same.push_back(Meant.Id);
      }
      break;
    case Op::Copy:
    case Op::Cast:
      if (mayHoldFunction(F, I.A))
        edge(registerSlot(Id, I.A), registerSlot(Id, I.Dst));
      break;
    case Op::Load:
      if (mayHoldFunction(F, I.Dst)) {
        edge(memorySlot(Id, Defined, I.A), registerSlot(Id, I.Dst));
        if (const Instruction *From = Defined[I.A]; From && From->Code == Op::FieldOf)
          LoadedFrom[{Id, I.Dst}] = F.View->Shapes[From->Ty].Record;
      }
      break;
    case Op::Store:
      if (mayHoldFunction(F, I.B))
        edge(registerSlot(Id, I.B), memorySlot(Id, Defined, I.A));
      break;
    case Op::Return:
      if (mayHoldFunction(F, I.A))
        edge(registerSlot(Id, I.A), slot(Returned, Id));
      break;
    case Op::Call: {
      if (I.A == None)
        break;
      Entity Callee = P.entity(F, I.A);
      if (Callee.What != Entity::Function)
        break;
      const facts::Function &Body = *P.function(Callee.Id).Body;
      for (unsigned A = 0; A != I.ArgumentCount && A < Body.ParameterCount; ++A)
        if (Register R = F.Body->Arguments[I.FirstArgument + A]; mayHoldFunction(F, R))
          edge(registerSlot(Id, R), registerSlot(Callee.Id, A));
      if (mayHoldFunction(F, I.Dst))
        edge(slot(Returned, Callee.Id), registerSlot(Id, I.Dst));
      break;
    }
    default:
      break;
    }
  }
}

void FunctionFlow::propagate() {
  // First in, first out, and each slot once: what comes to a slot gathers before it goes on.
  std::deque<Slot> Work;
  std::vector<bool> Queued(Held.size());
  auto Queue = [&](Slot S) {
    if (!Queued[S])
      Work.push_back(S);
    Queued[S] = true;
  };
  for (Slot S = 0; S != Held.size(); ++S)
    if (!Fresh[S].empty())
      Queue(S);
  while (!Work.empty()) {
    Slot From = Work.front();
    Work.pop_front();
    Queued[From] = false;
    llvm::SparseBitVector<> New;
    std::swap(New, Fresh[From]);
    Held[From] |= New;
    for (Slot To : Edges[From]) {
      llvm::SparseBitVector<> Coming = New;
      Coming.intersectWithComplement(Held[To]);
      if ((Fresh[To] |= Coming))
        Queue(To);
    }
  }
  for (const auto &[Key, S] : Slots)
    if (Key.first == InField && !Held[S].empty())
      Tables.insert(static_cast<RecordKey>(Key.second >> 32));
}

bool FunctionFlow::knowsTable(FunctionId In, Register R) const {
  auto It = LoadedFrom.find({In, R});
  return It != LoadedFrom.end() && Tables.count(It->second);
}

const llvm::SparseBitVector<> &FunctionFlow::at(FunctionId In, Register R) const {
  static const llvm::SparseBitVector<> Nothing;
  auto It = Slots.find({InRegister, static_cast<uint64_t>(In) << 32 | R});
  return It == Slots.end() ? Nothing : Held[It->second];
}

const std::vector<FunctionId> &FunctionFlow::bySignature(uint32_t Signature) const {
  static const std::vector<FunctionId> Nothing;
  if (Signature == None) // The empty key of the map.
    return Nothing;
  auto It = Taken.find(Signature);
  return It == Taken.end() ? Nothing : It->second;
}

} // namespace nvmove::solve
