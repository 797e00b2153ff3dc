// The states of a trace of libnvmove's pool, each opened as the program would open it (Judge.h).
#pragma once

#include "crash/Result.h"
#include "crash/Share.h"

namespace nvmove::crash {

/// What the trace says without any state.
Result preparedPool(const Trace &T, const Options &O);

/// Goes through \p T and judges the states of \p S.
llvm::Expected<Result> explorePool(const Trace &T, const Options &O, Share &S);

} // namespace nvmove::crash
