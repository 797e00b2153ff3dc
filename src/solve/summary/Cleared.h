// Global variables that are empty again when a load function returns, or point to what was freed:
// they kept something only meanwhile.
#pragma once

#include "solve/summary/Handles.h"

#include <map>
#include <set>

namespace nvmove::solve {

class Cleared {
public:
  Cleared(const Program &P, const Inference &Known, const FunctionFlow &Flow)
      : P(P), Known(Known), Flow(Flow) {}

  /// Those that \p Id sets to null or frees where every run passes that has set them before, and
  /// that nothing it does later could set again; what it calls included.
  const std::set<GlobalId> &by(FunctionId Id);

private:
  struct Effects {
    std::set<GlobalId> MaySet, Emptied;
  };
  const Effects &of(FunctionId Id);
  Effects ofAny(const std::set<FunctionId> &Callees);
  void read(FunctionId Id, Effects &Made);
  static bool within(const facts::Function &Body, uint32_t Region, uint32_t Outer);
  static uint32_t placeOf(const facts::Function &Body, const facts::Instruction &Call);

  const Program &P;
  const Inference &Known;
  const FunctionFlow &Flow;
  std::map<FunctionId, Effects> Memory;
};

} // namespace nvmove::solve
