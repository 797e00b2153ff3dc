// Where control arrives without passing the returns between: behind setjmp, and at landing pads.
#pragma once

#include "llvm/IR/Function.h"

namespace nvmove::plugin {

/// Tells the runtime that the atomic calls below this frame were left. True when \p F changed.
bool placeLandings(llvm::Function &F);

} // namespace nvmove::plugin
