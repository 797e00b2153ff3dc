// Goes through the trace of a program that makes its data persistent by itself (nvmove-cc
// --nvmove-trace=raw), and has each state judged that a crash could leave.
//
// Power: the states before each fence and each synchronisation, as Explorer.h has them; and behind
// each output, where what was printed must be there. Process: after each store. The user's checker
// alone says which state is right (FileJudge.h); without one only the rules speak (RawRules.h).
//
// A finding is at the first store that the smallest loss lacks. It says where that line was flushed,
// or that it was not.
#pragma once

#include "crash/Explorer.h"

namespace nvmove::crash {

/// An error: the checker is none of files, cannot be run, or \p O.Only is no state of this trace.
llvm::Expected<Result> exploreRaw(const Trace &T, const Options &O);

} // namespace nvmove::crash
