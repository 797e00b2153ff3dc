// What is in a pool, counted and listed.
#pragma once

#include "pool/OpenPool.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <vector>

namespace nvmove::pool {

struct Tally {
  uint64_t Blocks = 0, Bytes = 0;
};

/// Blocks by the name of their type, "untyped" for those that have none.
struct Census {
  std::map<std::string, Tally> All, Garbage; ///< Garbage: what the root does not lead to
};
/// \p Reach: what the root does not lead to is found as well.
llvm::Expected<Census> takeCensus(const OpenPool &Pool, bool Reach);

/// `nvmove pool info`: the pool's own account, and its census.
llvm::Expected<llvm::json::Object> describe(const std::string &Path);
/// The same for people.
void printDescription(llvm::raw_ostream &OS, const llvm::json::Object &Description);

/// In words. A hint is what looks wrong and may be right (Mistyped.h).
struct Findings {
  std::vector<std::string> Faults, Hints;
  uint64_t InGarbage = 0; ///< bad pointers in blocks that the root does not lead to
  uint64_t Untyped = 0;   ///< blocks of which nothing was looked at, if there is no fault
};
/// `nvmove pool check`: every fault, and the hints if there is none. \p AsOpened: what an opening mends
/// is none.
llvm::Expected<Findings> checkPool(const std::string &Path, bool AsOpened = false);

/// A table of a tally, and as JSON.
void printTally(llvm::raw_ostream &OS, const std::map<std::string, Tally> &Tallies);
llvm::json::Array tallyToJson(const std::map<std::string, Tally> &Tallies);

} // namespace nvmove::pool
