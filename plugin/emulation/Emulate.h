// --nvmove-emulate: a call behind each access to the records that are named, in which the program waits
// as if they lay in slower memory (runtime/emulation). There are no notes.
//
// The accesses are found before optimisation, in the code as the source has it. The calls stand there
// (`--nvmove-loads=source`: NVMOVE's worst case), or behind those that optimisation has left
// (`optimized`).
#pragma once

#include "base/UnsafeFile.h"

#include "llvm/IR/Module.h"

namespace nvmove::plugin {

/// Before optimisation. Reports what is wrong with the file of names. Calls of functions in \p Unsafe are
/// charged here, however `--nvmove-loads` is set.
void findEmulated(llvm::Module &M, const UnsafeTable &Unsafe);
/// Behind it.
void finishEmulated(llvm::Module &M);

} // namespace nvmove::plugin
