// Which parameters are input handles, by what functions do with them: a parameter is one when it
// reaches the handle argument of a read, through any number of calls, direct or by a known pointer.
#pragma once

#include "solve/summary/FunctionFlow.h"
#include "solve/summary/Inference.h"

#include <set>
#include <vector>

namespace nvmove::solve {

/// Calls \p Do(call, callee) for every direct call, every call whose pointer is known, and every
/// function that is handed to one that starts it.
template <typename Action>
void forEachCall(const Program &P, const Inference &Known, const FunctionFlow &Flow,
                 FunctionId Caller, Action Do) {
  const FunctionInfo &F = P.function(Caller);
  for (const facts::Instruction &I : F.Body->Body) {
    if (I.Code != facts::Op::Call)
      continue;
    if (I.A != None) {
      Entity Callee = P.entity(F, I.A);
      if (Callee.What == Entity::Function)
        Do(I, Callee.Id);
      if (ExternalEffect E = Known.effect(Callee); E.What == Effect::Start && E.A < I.ArgumentCount)
        for (FunctionId Started : Flow.at(Caller, F.Body->Arguments[I.FirstArgument + E.A]))
          Do(I, Started);
    } else if (I.B != None && I.B != facts::NullRegister) {
      for (FunctionId Callee : Flow.at(Caller, I.B))
        Do(I, Callee);
    }
  }
}

/// By function: the numbers of its parameters that are read from.
std::vector<std::set<unsigned>> handleParameters(const Program &P, const Inference &Known,
                                                 const FunctionFlow &Flow);

} // namespace nvmove::solve
