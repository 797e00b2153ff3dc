// nvmove-sources: nvmove's commands that read C sources, or what was recorded of them. nvmove starts it
// (Run.cpp).
#include "nvmove/Commands.h"

#include <cstdlib>

namespace nvmove::tool {

namespace {

/// Which of the two was installed alone shows in its version only.
bool isStartedByItsOwn(const Arguments &A) {
  const char *Version = std::getenv(PartOf);
  if (Version && std::string(Version) == NVMOVE_VERSION)
    return true;
  support::Diagnostics D(llvm::errs(), support::wantsColor(A.Color, llvm::errs()));
  if (Version)
    D.error("nvmove-sources is of version " NVMOVE_VERSION ", and nvmove of version " +
            std::string(Version) + "; install nvmove again");
  else
    D.error("nvmove-sources is a part of nvmove: run 'nvmove'");
  return false;
}

} // namespace

int run(const Arguments &A, char **) {
  if (!isStartedByItsOwn(A))
    return ExitUsage;
  unsetenv(PartOf); // what is run has no use for it
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
