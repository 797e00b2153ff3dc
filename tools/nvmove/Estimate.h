// `nvmove estimate`: how fast a program would be if its persistent types lay in slower memory.
//
// Configuration: a way to run the program. `plain` is the program as it is. `emulation itself` charges
// nothing, and shows what the emulation costs. Of each profile there are both models: `worst`, and
// `cached`; the truth lies between them. Others are commands of the user's, on the plain program, such
// as one that turns its own persistence on.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace nvmove::tool {

struct Arguments;

struct Configuration {
  std::string Name;
  bool Emulated = false;
  std::string Setting;        ///< NVMOVE_EMULATE
  std::string Command;        ///< for a shell; empty: that of the command line
  std::vector<double> Values; ///< one a round: seconds, or what the metric finds
  double median() const;
};

struct Estimate {
  std::vector<Configuration> All; ///< the first is plain
  std::vector<std::string> Profiles;
  bool IsThroughput = false; ///< more is better; else seconds
  /// How fast, compared with plain.
  double speedOf(const Configuration &C) const;
};

/// Copies the source, builds it plain and with --emulate, and runs each configuration in each round.
llvm::Expected<Estimate> estimate(const Arguments &A);

void printEstimate(llvm::raw_ostream &OS, const Estimate &E);
void printEstimateJson(llvm::raw_ostream &OS, const Estimate &E);
void printEstimateHtml(llvm::raw_ostream &OS, const Estimate &E);

} // namespace nvmove::tool
