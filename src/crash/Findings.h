// The list of findings of a run.
#pragma once

#include "crash/Explorer.h"

namespace nvmove::crash {

/// Adds \p F, or counts it to the one of the same kind at the same place; beyond a hundred it only
/// counts. The finding that it is in, when it is new.
Finding *addFinding(Result &R, Finding F);

} // namespace nvmove::crash
