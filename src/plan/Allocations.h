// The entries of a port file about allocation: allocators, bytes, scopes.
#pragma once

#include "plan/Names.h"
#include "plan/Scopes.h"

namespace nvmove::plan {

void describeAllocations(const Program &P, const Inference &Known, const Everything &All,
                         const Moved &What, Plan &Into);

} // namespace nvmove::plan
