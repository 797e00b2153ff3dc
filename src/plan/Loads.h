// The entries of a port file about the load, and what is to be asked about where it is called.
#pragma once

#include "plan/Everything.h"
#include "plan/Names.h"

namespace nvmove::plan {

void describeLoads(const Program &P, const Inference &Known, const Everything &All,
                   llvm::ArrayRef<FunctionId> Load, Plan &Into);

} // namespace nvmove::plan
