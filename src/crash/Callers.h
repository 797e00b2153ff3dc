// The calls that led to the places of findings, by name.
#pragma once

#include "crash/Result.h"

namespace nvmove::crash {

/// Fills in Finding::Callers from the debug information of the traced modules, up to main. Calls
/// that were inlined are among them; what has no debug information is left out. A note names each
/// other call from which the finding was found as well: the first one that is different.
void nameCallers(const Trace &T, Result &R);

} // namespace nvmove::crash
