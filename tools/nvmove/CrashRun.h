// `nvmove crash`: the run of the program that is explored afterwards.
#pragma once

#include "nvmove/Arguments.h"

#include "crash/Trace.h"

namespace nvmove::tool {

/// The checker wants to know what the program had printed.
bool wantsOutput(const CrashArguments &C);

/// Runs the program; an error when it has left no trace. \p Status: as wait() gives it.
llvm::Error runTraced(const Arguments &A, const std::string &Trace, int &Status);

/// The pool of a run as it was before it, for another one.
llvm::Error putBack(const crash::Trace &T);

} // namespace nvmove::tool
