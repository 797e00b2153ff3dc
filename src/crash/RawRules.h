// What the trace of a program that flushes and fences by itself says before any state is built.
#pragma once

#include "crash/Result.h"

namespace nvmove::crash {

constexpr const char *NeverFlushed = "never flushed";

/// Adds findings: NeverFlushed, "never fenced"; and the warning "redundant flush".
void applyRawRules(const Trace &T, Result &R);

} // namespace nvmove::crash
