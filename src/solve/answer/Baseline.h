// The paper's algorithm (NVMOVE, section 3), for comparison: every type that the program defines
// and that is assigned in any function reachable from the load functions by direct calls.
#pragma once

#include "solve/answer/Solve.h"
#include "solve/program/Program.h"

namespace nvmove::solve {

/// Fills Types and Stats.FunctionsVisited of \p Result. The functions that it visited.
std::set<FunctionId> runBaseline(const Program &P, llvm::ArrayRef<FunctionId> Load,
                                 const Options &O, ScanResult &Result);

} // namespace nvmove::solve
