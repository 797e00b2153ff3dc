// Several processes that explore one trace: what each finds is told at once, and made one result at
// the end.
#pragma once

#include "crash/Result.h"
#include "crash/Share.h"

namespace nvmove::crash {

/// What one process does; \p O is the one that it is to use.
using ExploreShare = llvm::function_ref<llvm::Expected<Result>(const Options &O, Share &S)>;

/// Explores with as many processes as \p O says. A process that dies takes what it had not judged
/// with it, and the result says so. The findings are in the order of their states' numbers.
llvm::Expected<Result> exploreTogether(const Options &O, ExploreShare Each);

} // namespace nvmove::crash
