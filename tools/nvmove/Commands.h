// The commands of nvmove; each returns the process's exit status.
#pragma once

#include "nvmove/Arguments.h"

namespace nvmove::tool {

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
int runEstimate(const Arguments &A);

} // namespace nvmove::tool
