// Scopes that are no functions: what a call computes is assigned to a field, or to a variable.
//
// A port file writes "record.field", or the variable's name; of a variable whose record has no name
// "variable.field". All assignments to that place are one scope.
#pragma once

#include "plan/Names.h"

#include <map>

namespace nvmove::plan {

/// A function (its id), or a place that is assigned to (an id above all functions').
using ScopeId = uint32_t;

class Assignments {
public:
  explicit Assignments(const Program &P);

  /// The place that the result of \p Call is assigned to; None: to nothing that has a name.
  ScopeId of(const facts::Instruction *Call) const {
    auto It = ByCall.find(Call);
    return It == ByCall.end() ? None : It->second;
  }
  /// The place of that name; None: nothing is assigned there.
  ScopeId find(const std::string &Name) const {
    auto It = Known.find(Name);
    return It == Known.end() ? None : It->second;
  }
  bool isFunction(ScopeId Id) const { return Id < FunctionCount; }
  const std::string &name(ScopeId Id) const { return Places[Id - FunctionCount]; }

private:
  void look(const FunctionInfo &F);
  std::string place(const FunctionInfo &F, const std::vector<const facts::Instruction *> &Defined,
                    facts::Register Address) const;

  const Program &P;
  const Names Say;
  const ScopeId FunctionCount;
  std::map<const facts::Instruction *, ScopeId> ByCall;
  std::map<std::string, ScopeId> Known;
  std::vector<std::string> Places;
};

} // namespace nvmove::plan
