// Functions with which the program ends, and that take its data apart: what they free has to stay in the
// pool.
//
//   releasing  a function that frees something that moves, itself or by what it calls
//   writing    a function that saves, or opens a file to write it, itself or by what it calls. What it writes is
//              meant: a function that frees and then writes removes data
//   sweeping   a function that frees without a choice: each object that a loop or a recursion comes to, or a whole
//              one. One that looks for what it frees is a command of the program
//   ending     a releasing function that makes nothing that moves: the loop of the program does
//   last call  one behind which the program ends: in main, behind all that answers; before a call of exit; of
//              a function that never returns; or by exit itself, of a function that was given to atexit
#pragma once

#include "plan/Turns.h"

#include "plan/Plan.h"

namespace nvmove::plan {

/// Adds the entries of `end`, and questions about functions that are called at other times, too. The functions
/// of the entries.
std::vector<FunctionId> describeEnds(const Program &P, const Inference &Known,
                                     const Everything &All, const Moved &What, const Turns &When,
                                     llvm::ArrayRef<FunctionId> Save, Plan &Into);

} // namespace nvmove::plan
