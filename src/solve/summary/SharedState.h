// What several calls of one function have in common: the state that they are given.
//
// Handlers of a parser are given one record, and only some of them input: "begin_object(ctx)" makes
// what "on_string(ctx, text)" fills. A constructor without input is part of the load when its
// caller puts input, later on, where that state leads. This file says, of one function body, which
// of its registers lead to the same state, and which instructions use it.
#pragma once

#include "solve/program/Program.h"

#include <map>
#include <vector>

namespace nvmove::solve {

class SharedState {
public:
  explicit SharedState(const FunctionInfo &F);

  /// Equal for registers that point to, or were loaded from behind, one variable or parameter.
  uint32_t state(facts::Register R) const;
  /// True when \p R lies behind a pointer that was loaded from its state: not in its own fields.
  bool isBehind(facts::Register R) const { return R < Behind.size() && Behind[R]; }
  /// Stores into, and calls that are given, what belongs to \p State, in the order of the text.
  const std::vector<const facts::Instruction *> &users(uint32_t State) const;
  /// True when \p Later may run after \p Earlier: it stands behind it or shares a loop with it.
  bool follows(const facts::Instruction &Later, const facts::Instruction &Earlier) const;

private:
  uint32_t find(uint32_t Id) const;
  void unite(uint32_t A, uint32_t B);

  const FunctionInfo &F;
  mutable std::vector<uint32_t> Parent; ///< Registers, then the function's symbols.
  std::vector<bool> Behind;
  std::map<uint32_t, std::vector<const facts::Instruction *>> Users;
};

} // namespace nvmove::solve
