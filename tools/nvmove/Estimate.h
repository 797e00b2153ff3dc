// `nvmove estimate`: how fast a program would be if its persistent types lay in slower memory.
//
// Configuration: a way to run the program. `plain` is the program as it is. `emulation itself` charges
// nothing, and shows what the emulation costs. Of each profile there are both models: `worst`, and
// `cached`; the truth lies between them. Others are commands of the user's, on the plain program, such
// as one that turns its own persistence on.
#pragma once

#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace nvmove::tool {

struct Arguments;

inline constexpr const char *EmulationItself = "emulation itself";

struct Configuration {
  std::string Name;
  bool Emulated = false;
  std::string Setting;         ///< NVMOVE_EMULATE
  std::string Command;         ///< for a shell; empty: that of the command line
  std::vector<double> Values;  ///< one a round: seconds, or what the metric finds
  std::optional<double> Loses; ///< seconds that a crash takes back, if somebody has said so
  double median() const;
};

/// What the persistent type \p Name costs, by the model `worst`.
struct TypeCost {
  std::string Name;
  uint64_t Loads = 0, Stores = 0;
  double Share = 0; ///< of what is charged: at accesses that go through it
  double Alone = 0; ///< the same: that go through no other
};

/// Of a file as NVMOVE_EMULATE_COUNTS gets it. The most expensive alone comes first.
std::vector<TypeCost> typeCosts(llvm::StringRef File);

struct ProfileCosts {
  std::string Profile;
  std::vector<TypeCost> Types;
};

struct Estimate {
  std::vector<Configuration> All; ///< the first is plain
  std::vector<std::string> Profiles;
  std::vector<ProfileCosts> Costs;
  bool IsThroughput = false; ///< more is better; else seconds
  const Configuration *find(llvm::StringRef Name) const;
  /// How fast \p Profile would be by the model `worst`, compared with plain, if what has this share of
  /// what is charged cost nothing. None: it costs no time that could be measured.
  std::optional<double> speedWithout(llvm::StringRef Profile, double Share) const;
  /// How fast, compared with plain.
  double speedOf(const Configuration &C) const;
};

/// Copies the source, builds it plain and with --emulate, and runs each configuration in each round.
llvm::Expected<Estimate> estimate(const Arguments &A);

void printEstimate(llvm::raw_ostream &OS, const Estimate &E);
void printEstimateJson(llvm::raw_ostream &OS, const Estimate &E);
void printEstimateHtml(llvm::raw_ostream &OS, const Estimate &E);

} // namespace nvmove::tool
