// The checked build: each pointer stored into persistent memory is shown to the runtime, with its
// place in the source, so that a pointer to volatile memory is found where it is stored: where it is
// stored as one, and where a record is copied whose type has it. What is stored as a number, or
// copied by other functions than memcpy and memmove, the commit finds.
#pragma once

#include "ir/Access.h"

namespace nvmove::plugin {

/// Places a check behind each of \p Writes that stores pointers.
void checkStoredPointers(llvm::Function &F, llvm::ArrayRef<Access> Writes);

} // namespace nvmove::plugin
