// Tunable builds only: see Heuristics.h.
#include "solve/Heuristics.h"

#ifdef NVMOVE_TUNABLE
#include <cstdlib>

namespace nvmove::solve {

static long long valueOf(const char *Variable, long long Otherwise) {
  const char *Text = std::getenv(Variable);
  return Text ? std::atoll(Text) : Otherwise;
}

#define NVM_HEURISTIC(Type, Name, Value, Why)                                                      \
  const Type Name = static_cast<Type>(valueOf("NVMOVE_TUNE_" #Name, Value));
#include "solve/Heuristics.def"
#undef NVM_HEURISTIC

} // namespace nvmove::solve
#endif
