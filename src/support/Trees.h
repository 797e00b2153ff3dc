// Copies of a source's folder: see EstimateTree.cpp.
#pragma once

#include "llvm/Support/Error.h"

#include <string>

namespace nvmove::tool {

/// Makes \p To a copy of \p From, with the times and the rights of its files, so that make finds nothing
/// to do in it. Symbolic links are copied as such; sockets, pipes and devices are left out. What was at
/// \p To before is removed. An error names the file.
llvm::Error copyTree(const std::string &From, const std::string &To);

} // namespace nvmove::tool
