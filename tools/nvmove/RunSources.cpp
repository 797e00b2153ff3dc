// nvmove-sources: nvmove's commands that read C sources, or what was recorded of them. nvmove starts it
// (Run.cpp).
#include "nvmove/Commands.h"

namespace nvmove::tool {

int run(const Arguments &A, char **) {
  switch (A.What) {
  case Command::Scan:
    return runScan(A);
  case Command::Suggest:
    return runSuggest(A);
  case Command::Plan:
    return runPlan(A);
  case Command::Move:
    return runMove(A);
  case Command::Estimate:
    return runEstimate(A);
  case Command::EmitFacts:
    return runEmitFacts(A);
  case Command::DumpFacts:
    return runDumpFacts(A);
  default:
    return ExitInternal;
  }
}

} // namespace nvmove::tool
