// What a trace says by itself, before any state is built.
#pragma once

#include "crash/Explorer.h"

namespace nvmove::crash {

/// Adds findings: "unlogged store", "write outside a transaction", "unseen store", "store to a
/// freed block", "output before commit", "unordered transactions", "unsafe pointer", "transaction
/// left open"; and the warning "lock released inside an open transaction".
void applyRules(const Trace &T, Result &R);

/// Adds \p F, or counts it to the one of the same kind at the same place; beyond a hundred it only
/// counts. The finding that it is in, when it is new.
Finding *addFinding(Result &R, Finding F);

} // namespace nvmove::crash
