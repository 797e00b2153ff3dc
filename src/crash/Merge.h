// Results of runs of one program, each with another method.
#pragma once

#include "crash/Result.h"

namespace nvmove::crash {

/// Adds \p From to \p Into: counts are summed, and what both have found, at the same place, is said
/// once.
void merge(Result &Into, Result &&From);

} // namespace nvmove::crash
