// Where the memory behind an address comes from, as far as one function shows it.
//
// Persistent memory is only ever reached through an address that came from a pool. What the stack,
// a global variable or the C library's allocator handed out is therefore volatile however far the
// address has travelled since. `realloc` is not among those allocators: the runtime interposes it,
// and given pool memory it returns pool memory.
#pragma once

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstrTypes.h"

namespace nvmove::plugin {

enum class Origin {
  MayPersist, ///< nothing is known
  Stack,      ///< a local variable, or an argument passed by copy
  Global,     ///< a variable of the program
  Heap,       ///< just returned by an allocator of volatile memory
  OtherSpace, ///< an address space of its own (%fs-relative and the like)
  Null        ///< null or undefined: the store never happens
};

/// A call of an allocator whose memory is volatile whatever the runtime interposes.
bool isVolatileAllocator(const llvm::CallBase &Call, const llvm::TargetLibraryInfo &Library);

/// The origin of \p Address in a function. Several possible volatile origins give any of them.
Origin originOf(const llvm::Value *Address, const llvm::Function &In,
                const llvm::TargetLibraryInfo &Library, bool GlobalsMayPersist);

} // namespace nvmove::plugin
