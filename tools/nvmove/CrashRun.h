// `nvmove crash`: the run of the program that is explored afterwards.
#pragma once

#include "nvmove/Arguments.h"

#include "crash/Trace.h"

namespace nvmove::tool {

/// The checker wants to know what the program had printed.
bool wantsOutput(const CrashArguments &C);

struct TracedRun {
  double SecondsMax = 0; ///< then it is ended; 0: never

  int Status = 0; ///< as wait() gives it
  double Seconds = 0;
  bool HasSockets = false;  ///< that were not its parent's
  bool Interrupted = false; ///< by SIGINT
  bool Hung = false;        ///< it was ended after SecondsMax
};

/// Runs the program; an error when it has left no trace.
llvm::Error runTraced(const Arguments &A, const std::string &Trace, TracedRun &Made);

} // namespace nvmove::tool
