// What an answer says of units that were taken for the program although others could be meant.
//
// A variable is told of wherever it was chosen without a reason. Of functions only those count that
// the load runs through: every program of a tree has a die() of its own. What lies nearer is taken
// with a reason, and then the answer is no worse for it.
#pragma once

#include "solve/program/Program.h"

namespace nvmove::solve {

/// True for units that differ in nothing but their objects' names.
bool sayTheSame(const facts::TranslationUnit &A, const facts::TranslationUnit &B);

/// Adds the notes to \p Result, which is incomplete where a choice had no reason. \p Visited are the
/// functions that the load runs through.
void noteDoubts(const Program &P, const std::set<FunctionId> &Visited, ScanResult &Result);

} // namespace nvmove::solve
