// The functions that a module's notes call: a jump each to what the runtime has for writes of that
// size (runtime/tx/sites.c).
//
// A hidden function of the module's own is called directly: five bytes, with no register for its
// address, and no lazy binding, whose resolver destroys the one that the address of the write is
// in. The linker keeps one of all modules'.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace nvmove::plugin {

/// Notes \p Size bytes at \p Address, if they lie in the reserved range; no bytes: nothing.
/// \p Ahead: a wait for several follows (Groups.h).
void callSharedNote(llvm::IRBuilderBase &At, llvm::Value *Address, llvm::Value *Size, bool Ahead);

/// Waits for what was noted ahead, if anything was.
void callSharedDrain(llvm::IRBuilderBase &At);

} // namespace nvmove::plugin
