// Copies of a source's folder: see Trees.cpp.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <string>

namespace nvmove::support {

/// Makes \p To a copy of \p From, with the times and the rights of its files, so that make finds nothing
/// to do in it. Symbolic links are copied as such; sockets, pipes and devices are left out, and so are the
/// folders that \p Skips says. What was at \p To before is removed. An error names the file.
llvm::Error copyTree(const std::string &From, const std::string &To,
                     llvm::function_ref<bool(const std::string &)> Skips = nullptr);

} // namespace nvmove::support
