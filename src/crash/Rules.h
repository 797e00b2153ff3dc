// What a trace says by itself, before any state is built.
#pragma once

#include "crash/Result.h"

namespace nvmove::crash {

/// Adds findings: "unlogged store", "write outside a transaction", "unseen store", "store to a
/// freed block", "output before commit", "unordered transactions", "unsafe pointer", "transaction
/// left open"; and the warnings "lock released inside an open transaction", "pointer to
/// volatile memory".
constexpr const char *Unordered = "unordered transactions";
void applyRules(const Trace &T, Result &R);

} // namespace nvmove::crash
