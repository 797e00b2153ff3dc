// --nvmove-trace: tells the runtime of each store behind it, with its place in the source, for
// `nvmove crash`. The notes are those of any other build.
//
// What it does not do: vector stores under a mask and calls of pre-compiled functions; the runtime
// finds what they changed when it compares at the end of the transaction, without a place.
#pragma once

#include "Access.h"

namespace nvmove::plugin {

void traceStores(llvm::Function &F, llvm::ArrayRef<Access> Writes);

} // namespace nvmove::plugin
