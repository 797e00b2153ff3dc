// The numbers of the solver that were chosen by measuring: see Heuristics.def.
#pragma once

#include <cstddef>
#include <cstdint>

namespace nvmove::solve {

#ifdef NVMOVE_TUNABLE // a build in which the environment may give others: tests/accuracy/tune.py
#define NVM_HEURISTIC(Type, Name, Value, Why) extern const Type Name;
#else
#define NVM_HEURISTIC(Type, Name, Value, Why) inline constexpr Type Name = Value;
#endif
#include "solve/Heuristics.def"
#undef NVM_HEURISTIC

} // namespace nvmove::solve
