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

#include "crash/Result.h"
#include "crash/Share.h"

namespace nvmove::crash {

/// An error: what is asked for is nothing that such a program has.
llvm::Error checkRaw(const Options &O);
/// What the trace says without any state.
Result preparedRaw(const Trace &T, const Options &O);
/// Goes through \p T and judges the states of \p S. An error: the checker is none of files.
llvm::Expected<Result> exploreRaw(const Trace &T, const Options &O, Share &S);
/// With what is known when all is explored.
void finishRaw(Result &R);

} // namespace nvmove::crash
