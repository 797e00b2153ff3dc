// Goes through a trace, builds the states that a crash could leave, and has each judged.
//
// Power: before each fence, every choice of versions for the dirty lines while those are few;
// above, all and none, each line lost alone and kept alone, every moment of the epoch, and a seeded
// sample. The same where a transaction is about to commit: until then nothing of it may be there.
// Process: after each event that changed the file, all of it. Disk: behind each commit, sectors as
// they were at moments since the file was synchronised; libnvmove promises nothing there, so only
// a recovery that crashes or hangs is a finding, and the rest is counted. A state that was judged
// before, under an expectation that is no weaker, is not judged again; one that was left out is
// counted. Before that the rules that need no state (Rules.h).
//
// A finding names the smallest loss that fails: lines are given back to the state, half of them at
// a time and then one by one, as long as the verdict stays.
//
// What it does not do: what the kernel reorders in files other than the pool is not modelled.
#pragma once

#include "crash/Options.h"
#include "crash/Result.h"

namespace nvmove::crash {

/// An error: \p O.Only is no state of this trace.
llvm::Expected<Result> explore(const Trace &T, const Options &O);

} // namespace nvmove::crash
