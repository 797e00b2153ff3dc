// Functions with which the program ends, and that take its data apart: what they free has to stay in the
// pool.
//
//   releasing  a function that frees something that moves, itself or by what it calls
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
                                     Plan &Into);

} // namespace nvmove::plan
