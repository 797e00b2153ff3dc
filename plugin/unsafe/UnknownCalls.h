// Calls of pre-compiled functions that nobody described: what they may write is a warning.
#pragma once

#include "base/Report.h"
#include "base/UnsafeFile.h"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstrTypes.h"

namespace nvmove::plugin {

struct SystemFunction;

/// What a system header says of a function that is pre-compiled; null: none declares it.
const SystemFunction *systemFunction(const llvm::Function &F);
const SystemFunction *systemFunction(const llvm::CallBase &Call);

/// Warns, once for each function, when \p Call may write persistent memory: what an argument leads
/// to, or what lies behind an object that it leads to. True when it may.
bool warnOfUnknown(llvm::CallBase &Call, const UnsafeTable &Unsafe,
                   const llvm::TargetLibraryInfo &Library, Report &R);

/// Warns where the address of such a function is taken: nobody sees the calls through it.
void warnOfTakenAddresses(llvm::Module &M, const UnsafeTable &Unsafe, Report &R);

} // namespace nvmove::plugin
