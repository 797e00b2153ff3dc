// Thinks out a port file for a program, from its source and, where there is one, an observed run.
#pragma once

#include "facts/Facts.h"
#include "plan/Plan.h"

#include "llvm/Support/Error.h"

namespace nvmove::observe {
struct Observation;
}
namespace nvmove::port {
struct PortFile;
}

namespace nvmove::plan {

struct Options {
  std::vector<std::string> Load, Save;        ///< As for a scan (solve/answer/Solve.h).
  const observe::Observation *Seen = nullptr; ///< A run of the program.
  const port::PortFile *Against = nullptr;    ///< A file to compare with: Plan::Drift.
  uint64_t StepsMax = 100'000'000;            ///< Of the points-to engine: about a minute.
};

/// Fails with UnknownFunction (solve/answer/Solve.h), or where the units have no main.
llvm::Expected<Plan> makePlan(std::vector<facts::TranslationUnit> Units, const Options &O);

} // namespace nvmove::plan
