// An observation for people.
#pragma once

#include "observe/Fates.h"

#include "llvm/Support/raw_ostream.h"

namespace nvmove::observe {

/// \p All: also what was freed before any point.
void show(llvm::raw_ostream &OS, const Observation &O, const Fates &F,
          const std::vector<std::string> &Load, bool All);

} // namespace nvmove::observe
