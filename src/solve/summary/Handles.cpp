// See Handles.h.
#include "solve/summary/Handles.h"

namespace nvmove::solve {

using facts::Instruction;
using facts::Op;

std::vector<std::set<unsigned>> handleParameters(const Program &P, const Inference &Known,
                                                 const FunctionFlow &Flow) {
  std::vector<std::set<unsigned>> Handles(P.functions().size());
  std::vector<std::vector<CallSite>> Callers(P.functions().size());
  std::vector<FunctionId> Work;
  auto Note = [&](FunctionId Id, const Instruction &Call, int Argument) {
    const facts::Function &Body = *P.function(Id).Body;
    if (Argument < 0 || Argument >= Call.ArgumentCount)
      return;
    for (unsigned Parameter : parametersBehind(Body, Body.Arguments[Call.FirstArgument + Argument]))
      if (Handles[Id].insert(Parameter).second)
        Work.push_back(Id);
  };
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id) {
    for (const Instruction &I : P.function(Id).Body->Body)
      if (I.Code == Op::Call && I.A != None)
        if (ExternalEffect E = Known.effect(P.entity(P.function(Id), I.A));
            E.What == Effect::Read || E.What == Effect::ReadValue)
          Note(Id, I, E.B);
    forEachCall(P, Known, Flow, Id, [&](const Instruction &Call, FunctionId Callee) {
      Callers[Callee].push_back({Id, &Call});
    });
  }
  while (!Work.empty()) {
    FunctionId Id = Work.back();
    Work.pop_back();
    for (const CallSite &Site : Callers[Id])
      for (unsigned Parameter : std::set<unsigned>(Handles[Id]))
        Note(Site.Caller, *Site.Call, static_cast<int>(Parameter));
  }
  return Handles;
}

} // namespace nvmove::solve
