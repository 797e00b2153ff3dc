// Wrappers of pre-compiled functions, for their addresses: what a pointer leads to notes first.
#pragma once

#include "base/Report.h"
#include "base/UnsafeFile.h"

namespace nvmove::plugin {

/// Where the address of a function that writes memory is taken, puts that of a wrapper that notes
/// first. Variadic functions cannot be wrapped: a warning. True when the module changed.
bool wrapTakenAddresses(llvm::Module &M, const UnsafeTable &Unsafe, Report &Warnings);

} // namespace nvmove::plugin
