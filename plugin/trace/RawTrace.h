// --nvmove-trace=raw: tells of each store, flush and fence of a program that makes its data
// persistent by itself, with their places in the source, for `nvmove crash`. Nothing is noted and
// nothing is made atomic: the program is as any other compiler makes it.
//
// Flushes are clflush, clflushopt and clwb; fences are sfence, mfence and what has a lock prefix;
// each as an intrinsic, as an atomic operation of the language, or in inline assembler. What
// libraries flush (libpmem, msync) the runtime sees by itself (runtime/raw).
#pragma once

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Function.h"

namespace nvmove::plugin {

void traceRaw(llvm::Function &F, const llvm::TargetLibraryInfo &Library);

/// The constructor by which the runtime knows of a program with such code.
void enableRawTrace(llvm::Module &M);

} // namespace nvmove::plugin
