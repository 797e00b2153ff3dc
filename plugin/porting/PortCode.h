// What the port file says of functions, done to the IR before it is optimised.
//
// Scopes: a function that has one saves, sets and restores __nvm_placing.scope; a longjmp past it
// leaves the scope to the function that it lands in, which restores its own. Allocators call
// __nvm_port_malloc and its kin in place of the C library's. A load function first asks whether the
// pool has what it would load, and tells when it is done. The markers of PortSource.h become stores
// to __nvm_placing, roots become data in section nvm_roots.
#pragma once

#include "llvm/IR/Module.h"

namespace nvmove::plugin {

/// Before emitPortEntries, which reports what was found here. True: the module changed.
bool carryOutPort(llvm::Module &M);

} // namespace nvmove::plugin
