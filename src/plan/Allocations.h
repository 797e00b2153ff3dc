// The entries of a port file about allocation: allocators, bytes, scopes.
#pragma once

#include "plan/Names.h"
#include "plan/Scopes.h"

namespace nvmove::plan {

/// Functions of the C library whose calls a port file can send to a pool.
bool isPools(llvm::StringRef Name);

/// True when \p Id gives the memory that \p Call allocates, of a size that its caller says: its callers'
/// calls have the types.
bool handsOn(const Program &P, FunctionId Id, const facts::Instruction &Call);

void describeAllocations(const Program &P, const Inference &Known, const Everything &All,
                         const Moved &What, Plan &Into);

} // namespace nvmove::plan
