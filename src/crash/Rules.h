// What a trace says by itself, before any state is built.
#pragma once

#include "crash/Explorer.h"

namespace nvmove::crash {

/// Adds findings: "unlogged store", "write outside a transaction", "unseen store".
void applyRules(const Trace &T, Result &R);

/// Adds \p F, or counts it to the one of the same kind at the same place.
void addFinding(Result &R, Finding F);

/// The last store of a known place before event \p Before that touched byte \p Place; null: none.
/// \p Covered: whether a note of the same transaction covered that byte.
const Site *guiltyStore(const Trace &T, size_t Before, uint64_t Place, bool &Covered);

} // namespace nvmove::crash
