// The checked build: each pointer stored into persistent memory is shown to the runtime, with its
// place in the source, so that a pointer to volatile memory is found where it is stored.
#pragma once

#include "Access.h"

namespace nvmove::plugin {

/// Places a check behind each of \p Writes that stores a pointer.
void checkStoredPointers(llvm::Function &F, llvm::ArrayRef<Access> Writes);

} // namespace nvmove::plugin
