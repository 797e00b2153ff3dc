// One pass over each body in the order of its text, callees first. See Cleared.h.
#include "solve/summary/Cleared.h"

#include "llvm/ADT/STLExtras.h"

namespace nvmove::solve {

using facts::Function;
using facts::Instruction;
using facts::Op;
using facts::Register;

const std::set<GlobalId> &Cleared::by(FunctionId Id) { return of(Id).Emptied; }

const Cleared::Effects &Cleared::of(FunctionId Id) {
  auto [It, New] = Memory.try_emplace(Id);
  if (New) { // A recursive call meets what is known so far.
    Effects Made;
    read(Id, Made);
    Memory[Id] = std::move(Made);
  }
  return Memory[Id];
}

/// What any of \p Callees may do, each effect once.
Cleared::Effects Cleared::ofAny(const std::set<FunctionId> &Callees) {
  Effects Made;
  for (FunctionId Callee : Callees) {
    const Effects &There = of(Callee);
    Made.MaySet.insert(There.MaySet.begin(), There.MaySet.end());
    Made.Emptied.insert(There.Emptied.begin(), There.Emptied.end());
  }
  return Made;
}

bool Cleared::within(const Function &Body, uint32_t Region, uint32_t Outer) {
  while (Region != Outer && Region != 0)
    Region = Body.Regions[Region].Parent;
  return Region == Outer;
}

/// The region that a call belongs to: of "if (hook) hook();" the one around it.
uint32_t Cleared::placeOf(const Function &Body, const Instruction &Call) {
  if (Call.A != None || Call.Region == 0 || llvm::any_of(Body.Body, [&](const Instruction &I) {
        return &I != &Call && I.Region == Call.Region &&
               (I.Code == Op::Call || I.Code == Op::Store || I.Code == Op::Return);
      }))
    return Call.Region;
  return Body.Regions[Call.Region].Parent;
}

void Cleared::read(FunctionId Id, Effects &Made) {
  const FunctionInfo &F = P.function(Id);
  const Function &Body = *F.Body;
  std::map<Register, GlobalId> Addresses, Values;
  std::map<GlobalId, std::set<uint32_t>> SetIn;
  std::map<GlobalId, std::vector<Register>> Loaded; ///< Which of Values are a variable's.
  std::map<const Instruction *, std::set<FunctionId>> Targets;
  forEachCall(P, Known, Flow, Id, [&](const Instruction &Call, FunctionId Callee) {
    if (!Known.noReturn(Callee))
      Targets[&Call].insert(Callee);
  });
  auto Set = [&](GlobalId Each, uint32_t Region) {
    Made.MaySet.insert(Each);
    Made.Emptied.erase(Each);
    for (Register R : std::exchange(Loaded[Each], {})) // "old = list; list = made; free(old);"
      Values.erase(R);
    SetIn[Each].insert(Region);
  };
  auto Empty = [&](GlobalId Each, uint32_t Region) {
    const std::set<uint32_t> &Regions = SetIn[Each];
    if (Regions.empty() ? Region == 0 : llvm::all_of(Regions, [&](uint32_t Inner) {
          return within(Body, Inner, Region);
        }))
      Made.Emptied.insert(Each);
  };
  auto Escapes = [&](Register R, uint32_t Region) {
    if (auto It = Addresses.find(R); It != Addresses.end())
      Set(It->second, Region);
  };
  for (const Instruction &I : Body.Body) {
    if (I.Code == Op::AddressOf) {
      if (Entity Meant = P.entity(F, I.A); Meant.What == Entity::Global)
        Addresses[I.Dst] = Meant.Id;
      continue;
    }
    if (I.Code == Op::Load) {
      if (auto It = Addresses.find(I.A); It != Addresses.end()) {
        Values[I.Dst] = It->second;
        Loaded[It->second].push_back(I.Dst);
      }
      continue;
    }
    if (I.Code == Op::Store) {
      Escapes(I.B, I.Region);
      if (auto It = Addresses.find(I.A); It != Addresses.end() && I.B == facts::NullRegister)
        Empty(It->second, I.Region);
      else if (It != Addresses.end())
        Set(It->second, I.Region);
      continue;
    }
    if (I.Code != Op::Call) {
      Escapes(I.A, I.Region); // Its parts are written one by one.
      continue;
    }
    uint32_t Place = placeOf(Body, I);
    for (unsigned A = 0; A != I.ArgumentCount; ++A)
      Escapes(Body.Arguments[I.FirstArgument + A], I.Region);
    if (ExternalEffect E = I.A == None ? ExternalEffect() : Known.effect(P.entity(F, I.A));
        E.What == Effect::Release && E.B != Conditional && E.A >= 0 && E.A < I.ArgumentCount) {
      if (auto It = Values.find(Body.Arguments[I.FirstArgument + E.A]); It != Values.end())
        Empty(It->second, Place);
      continue;
    }
    Effects There = ofAny(Targets[&I]);
    for (GlobalId Each : There.MaySet)
      Set(Each, I.Region);
    for (GlobalId Each : There.Emptied)
      Empty(Each, Place);
  }
}

} // namespace nvmove::solve
