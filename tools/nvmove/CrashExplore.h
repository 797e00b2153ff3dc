// `nvmove crash`: runs of the program, and what their traces show.
#pragma once

#include "nvmove/Arguments.h"
#include "nvmove/CrashRun.h"

#include "crash/Explorer.h"
#include "crash/Temporary.h"

#include <list>

namespace nvmove::tool {

/// A run of the program, or a trace that was there, and its exploration.
struct Exploration {
  crash::TemporaryTrace Files; ///< of this run
  crash::Trace T;              ///< findings point into it
  std::string Path;
  TracedRun Run;
};

/// Runs the program and explores its trace, or explores the trace that is named. With no method
/// named by an option or by the environment the program runs with the one that libnvmove chooses, and
/// once more with the other, if a second run does the same as the first; what was not run stands in
/// Result::NotDone.
llvm::Expected<crash::Result> exploreEach(const Arguments &A, crash::Options O,
                                          std::list<Exploration> &Runs);

} // namespace nvmove::tool
