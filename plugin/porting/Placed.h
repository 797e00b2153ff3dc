// Roots that lie in the pool: `in_pool` of a port file.
//
// A copy of a root is compared and saved by one thread. A variable that several threads change, or
// that the pool's own data lead back to (the head of a circular list), has to lie in the pool
// itself. So every use of its address becomes a load of a pointer, `__nvm_at.NAME`, which leads to
// the variable until the load function of the port file begins, and from then on to a block of the
// pool: stores there are noted like any others.
//
// The address may not be known before the program runs: an initialiser of another variable that has
// it is an error. What the program has computed before the load, and uses later, leads to the
// variable still; that has its pages to itself, and the runtime lets nobody write there any more.
// It has another name, so that no source which is compiled without the port file finds it.
#pragma once

#include "llvm/IR/Module.h"

namespace nvmove::plugin {

/// Puts the pointers in place of the addresses of all such roots that \p M uses. Reports errors.
bool redirectPlaced(llvm::Module &M);

/// The pointer of the root \p Variable, which \p M defines, and its memory before the load. Null:
/// it has none.
llvm::GlobalVariable *placeOf(llvm::Module &M, llvm::StringRef Variable);
llvm::GlobalVariable *placedBefore(llvm::Module &M, llvm::StringRef Variable);

} // namespace nvmove::plugin
