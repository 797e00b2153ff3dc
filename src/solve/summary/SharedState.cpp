// Union-find over the registers of a body. See SharedState.h.
#include "solve/summary/SharedState.h"

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

} // namespace nvmove::solve
