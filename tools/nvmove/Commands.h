// The commands of nvmove; each returns the process's exit status. Those that read C sources are in
// nvmove-sources, the others in nvmove.
#pragma once

#include "nvmove/Arguments.h"

namespace nvmove::tool {

/// nvmove tells nvmove-sources its version by this variable of the environment.
constexpr const char *PartOf = "nvmove_sources_of";

/// Runs the command that \p A names; \p Words are main()'s.
int run(const Arguments &A, char **Words);

int runScan(const Arguments &A);
int runSuggest(const Arguments &A);
int runObserve(const Arguments &A);
int runPlan(const Arguments &A);
int runMove(const Arguments &A);
int runEmitFacts(const Arguments &A);
int runDumpFacts(const Arguments &A);
int runCrash(const Arguments &A);
int explainKind(const Arguments &A);
int runPool(const Arguments &A);
int runStat(const Arguments &A);
int runEstimate(const Arguments &A);

} // namespace nvmove::tool
