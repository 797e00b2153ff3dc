// Union-find over the registers of a body, and the question that Zone asks. See SharedState.h.
#include "solve/SharedState.h"

#include "solve/Zone.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

using facts::Instruction;
using facts::Op;
using facts::Register;

SharedState::SharedState(const FunctionInfo &F) : F(F), Behind(F.Body->Registers.size()) {
  const facts::Function &Body = *F.Body;
  std::map<facts::SymbolId, uint32_t> Symbols;
  for (uint32_t Id = 0; Id != Body.Registers.size(); ++Id)
    Parent.push_back(Id);
  for (const Instruction &I : Body.Body) {
    bool Known = I.A < Behind.size(); // A register, for all but AddressOf and Call.
    switch (I.Code) {
    case Op::AddressOf: {
      auto [It, New] = Symbols.try_emplace(I.A, static_cast<uint32_t>(Parent.size()));
      if (New)
        Parent.push_back(It->second);
      unite(I.Dst, It->second);
      break;
    }
    case Op::Load:
      if (Known && F.shapeOf(Body.Registers[I.Dst]).Pointers) {
        unite(I.Dst, I.A);
        Behind[I.Dst] = true;
      }
      break;
    case Op::Copy:
    case Op::Cast:
    case Op::Offset:
    case Op::Wander:
    case Op::FieldOf:
    case Op::ElementOf:
      if (Known && I.Dst < Behind.size()) {
        unite(I.Dst, I.A);
        Behind[I.Dst] = Behind[I.Dst] || Behind[I.A];
      }
      break;
    default:
      break;
    }
  }
  for (const Instruction &I : Body.Body) {
    if ((I.Code == Op::Store || I.Code == Op::CopyObject) && I.A < Behind.size())
      Users[find(I.A)].push_back(&I);
    for (unsigned A = 0; I.Code == Op::Call && A != I.ArgumentCount; ++A)
      if (Register R = Body.Arguments[I.FirstArgument + A]; R < Behind.size())
        if (auto &Known = Users[find(R)]; Known.empty() || Known.back() != &I)
          Known.push_back(&I);
  }
}

uint32_t SharedState::find(uint32_t Id) const {
  while (Parent[Id] != Id)
    Id = Parent[Id] = Parent[Parent[Id]];
  return Id;
}

void SharedState::unite(uint32_t A, uint32_t B) {
  if (A < Parent.size() && B < Parent.size())
    Parent[find(A)] = find(B);
}

uint32_t SharedState::state(Register R) const { return R < Behind.size() ? find(R) : None; }

const std::vector<const Instruction *> &SharedState::users(uint32_t State) const {
  static const std::vector<const Instruction *> Nothing;
  auto It = Users.find(State);
  return It == Users.end() ? Nothing : It->second;
}

bool SharedState::follows(const Instruction &Later, const Instruction &Earlier) const {
  if (&Later > &Earlier)
    return true;
  auto Within = [&](uint32_t Region, uint32_t Outer) {
    while (Region != Outer && Region != 0)
      Region = F.Body->Regions[Region].Parent;
    return Region == Outer;
  };
  for (uint32_t At = Earlier.Region; At != 0; At = F.Body->Regions[At].Parent)
    if (F.Body->Regions[At].Kind == facts::RegionKind::Loop && Within(Later.Region, At))
      return true;
  return false;
}

/// True when \p R holds the handle, input, or the address of what was made and holds one of them.
bool Zone::bringsInput(InstanceId In, Register R) const {
  NodeId N = node(In, R);
  if (N == None)
    return false;
  for (LocationId Each : Graph.pointees(N)) {
    ObjectId Id = Graph.at(Each).In;
    if (Each == Graph.input() || Each == Graph.handle() ||
        (!Graph.object(Id).isOlder() && (content(Id).Input || content(Id).Handle)))
      return true;
  }
  return false;
}

/// True when \p Call is given state into which its caller puts input afterwards, through a pointer
/// that the state holds, or by another call that is given input beside it.
bool Zone::preparesState(const PendingCall &Call, FunctionId Target) {
  if (!Known.mayAllocate(Target))
    return false;
  const FunctionInfo &F = functionOf(Call.In);
  auto [It, New] = States.try_emplace(Instances[Call.In].Function);
  if (New)
    It->second = std::make_unique<SharedState>(F);
  const SharedState &Shared = *It->second;
  auto Puts = [&](const Instruction &Use, uint32_t State) {
    if (Use.Code == Op::Store || Use.Code == Op::CopyObject)
      return Shared.isBehind(Use.A) && bringsInput(Call.In, Use.B);
    bool Own = Use.A == None || P.entity(F, Use.A).What == Entity::Function;
    bool Given = false, Input = false;
    for (unsigned A = 0; A != Use.ArgumentCount; ++A) {
      Register R = F.Body->Arguments[Use.FirstArgument + A];
      if (Shared.state(R) == State)
        Given |= Own || Shared.isBehind(R);
      else
        Input = Input || bringsInput(Call.In, R);
    }
    return Given && Input;
  };
  for (int I = 0; I != Call.Call->ArgumentCount; ++I) {
    Register R = argument(Call, I);
    uint32_t State = Shared.state(R);
    bool Address = State != None && F.Body->Registers[R] == None; // Of a variable.
    if (State == None || !(Address || F.shapeOf(F.Body->Registers[R]).Pointers))
      continue;
    if (llvm::any_of(Shared.users(State), [&](const Instruction *Use) {
          return Use != Call.Call && Shared.follows(*Use, *Call.Call) && Puts(*Use, State);
        }))
      return true;
  }
  return false;
}

} // namespace nvmove::solve
