// --nvmove-trace: tells the runtime of each store behind it, also of those that nothing notes; of
// each output, each flush of its own, and each release of a lock; and of each call into code that
// nothing may instrument, behind which the runtime looks for stores through its arguments. All with
// their places in the source, for `nvmove crash`. The notes are those of any other build.
//
// What it does not do: vector stores under a mask, and what a call stores elsewhere than through
// its arguments; the runtime finds that when it compares, without a place.
#pragma once

#include "ir/Access.h"

namespace nvmove::plugin {

void traceStores(llvm::Function &F, llvm::ArrayRef<Access> Writes);

/// Calls through which something leaves the process (write, send, rename and their kin, stdio),
/// that flush or release a lock, or that may store. And \p F keeps its frame pointer.
void traceCalls(llvm::Function &F);

/// The arguments through which code that nothing instruments may store in \p Call.
void forEachStoredUnseen(llvm::CallBase &Call, llvm::function_ref<void(llvm::Value *)> Take);
/// Whether something may leave the process through \p Call.
bool isOutput(const llvm::CallBase &Call);
/// Whether \p Call prints to `stderr`, which is for people.
bool printsErrors(const llvm::CallBase &Call);
/// Its descriptor; null: there is none, or the call's arguments do not tell it.
llvm::Value *outputDescriptor(const llvm::CallBase &Call);

} // namespace nvmove::plugin
