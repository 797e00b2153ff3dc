// What a trace says by itself, before any state is built.
#pragma once

#include "crash/Explorer.h"

namespace nvmove::crash {

/// Adds findings: "unlogged store", "write outside a transaction", "unseen store", "output before
/// commit".
void applyRules(const Trace &T, Result &R);

/// Adds \p F, or counts it to the one of the same kind at the same place; beyond a hundred it only
/// counts.
void addFinding(Result &R, Finding F);

/// Who stored byte \p Place last, before event \p Before.
struct Guilty {
  const Site *Where = nullptr;
  bool Covered = false; ///< by a note of the same transaction
  bool Unseen = false;  ///< by code that nothing traced
};
Guilty guiltyStore(const Trace &T, size_t Before, uint64_t Place);

} // namespace nvmove::crash
