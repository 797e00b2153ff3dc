// See Inference.h.
#include "solve/summary/Inference.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

namespace nvmove::solve {

using facts::Function;
using facts::Instruction;
using facts::Op;
using facts::Register;

std::set<Register> registersBehind(const Function &Body, Register R) {
  std::set<Register> Reached = {R};
  bool Grew = true;
  while (Grew) {
    Grew = false;
    for (const Instruction &I : Body.Body)
      if ((I.Code == Op::Copy || I.Code == Op::Cast || I.Code == Op::Offset ||
           I.Code == Op::Wander || I.Code == Op::ElementOf) &&
          Reached.count(I.Dst))
        Grew |= Reached.insert(I.A).second;
  }
  return Reached;
}

std::vector<unsigned> parametersBehind(const Function &Body, Register R) {
  std::vector<unsigned> Parameters;
  for (Register Each : registersBehind(Body, R))
    if (Each < Body.ParameterCount)
      Parameters.push_back(Each);
  return Parameters;
}

Inference::Inference(const Program &P)
    : P(P), FillsParameter(P.functions().size()), Formats(P.functions().size()),
      NoReturn(P.functions().size()), StandsFor(P.functions().size()),
      Callees(P.functions().size()), Callers(P.functions().size()) {
  for (const ExternalInfo &External : P.externals())
    Effects.push_back(effectOf(External.Name));
  indexCalls();
  inferNoReturn();
  inferFormats();
  inferAllocators();
  inferFilled();
}

void Inference::indexCalls() {
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    for (const Instruction &I : P.function(Id).Body->Body) {
      if (I.Code != Op::Call || I.A == None)
        continue;
      Entity Callee = P.entity(P.function(Id), I.A);
      if (Callee.What != Entity::Function)
        continue;
      if (!llvm::is_contained(Callees[Id], Callee.Id))
        Callees[Id].push_back(Callee.Id);
      Callers[Callee.Id].push_back({Id, &I});
    }
}

bool Inference::neverReturns(const Entity &Callee) const {
  if (Callee.What == Entity::Function)
    return NoReturn[Callee.Id];
  return Callee.What == Entity::External &&
         (P.externals()[Callee.Id].NoReturn || solve::neverReturns(P.externals()[Callee.Id].Name));
}

bool Inference::isLogging(const Entity &Callee) const {
  if (Callee.What == Entity::Function)
    return formats(Callee.Id);
  return Callee.What == Entity::External && P.externals()[Callee.Id].Formats;
}

ExternalEffect Inference::effect(const Entity &Callee) const {
  if (Callee.What == Entity::Function)
    return StandsFor[Callee.Id];
  return Callee.What == Entity::External ? Effects[Callee.Id] : ExternalEffect();
}

void Inference::inferNoReturn() {
  bool Grew = true;
  while (Grew) {
    Grew = false;
    for (FunctionId Id = 0; Id != P.functions().size(); ++Id) {
      const FunctionInfo &F = P.function(Id);
      if (NoReturn[Id] || F.Body->Symbol == None)
        continue;
      bool Never = F.symbol().NoReturn;
      for (const Instruction &I : F.Body->Body) {
        if (I.Code == Op::Return)
          break; // A return before the exit: some run comes back.
        Never |=
            I.Code == Op::Call && I.A != None && I.Region == 0 && neverReturns(P.entity(F, I.A));
      }
      if (Never)
        Grew = NoReturn[Id] = true;
    }
  }
}

void Inference::inferFormats() {
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id) {
    const FunctionInfo &F = P.function(Id);
    if (F.Body->Symbol == None)
      continue;
    Formats[Id] = F.symbol().Formats;
    if (!F.Body->Variadic || F.result().Pointers)
      continue;
    for (const Instruction &I : F.Body->Body)
      if (I.Code == Op::Call && I.A != None)
        if (Entity Callee = P.entity(F, I.A); Callee.What == Entity::External)
          Formats[Id] = Formats[Id] || (P.externals()[Callee.Id].Formats &&
                                        P.externals()[Callee.Id].Name.front() == 'v');
  }
}

std::vector<bool> Inference::deadRegions(FunctionId Id) const {
  const FunctionInfo &F = P.function(Id);
  std::vector<bool> Dead(F.Body->Regions.size());
  for (const Instruction &I : F.Body->Body)
    if (I.Code == Op::Call && I.A != None && I.Region != 0 &&
        F.Body->Regions[I.Region].Kind == facts::RegionKind::Branch &&
        neverReturns(P.entity(F, I.A)))
      Dead[I.Region] = true;
  // A switch is one branch region: an exit in one of its cases says nothing about the others.
  for (const Instruction &I : F.Body->Body)
    if (I.Code == Op::Return && I.Region != 0)
      Dead[I.Region] = false;
  for (size_t Region = 1; Region < Dead.size(); ++Region)
    if (F.Body->Regions[Region].Parent < Region && Dead[F.Body->Regions[Region].Parent])
      Dead[Region] = true;
  return Dead;
}

void Inference::inferFilled() {
  std::vector<FunctionId> Work;
  auto Note = [&](FunctionId Id, const Instruction &Call, unsigned Argument) {
    const Function &Body = *P.function(Id).Body;
    if (Argument >= Call.ArgumentCount)
      return;
    for (unsigned Parameter : parametersBehind(Body, Body.Arguments[Call.FirstArgument + Argument]))
      if (P.function(Id).parameter(Parameter).Pointers == 1 &&
          FillsParameter[Id].insert(Parameter).second)
        Work.push_back(Id);
  };
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    for (const Instruction &I : P.function(Id).Body->Body)
      if (I.Code == Op::Call && I.A != None)
        if (ExternalEffect E = effect(P.entity(P.function(Id), I.A)); E.What == Effect::Read)
          Note(Id, I, static_cast<unsigned>(E.A));
  while (!Work.empty()) {
    FunctionId Id = Work.back();
    Work.pop_back();
    for (const CallSite &Site : Callers[Id])
      for (unsigned Parameter : std::set<unsigned>(FillsParameter[Id]))
        Note(Site.Caller, *Site.Call, Parameter);
  }
}

} // namespace nvmove::solve
