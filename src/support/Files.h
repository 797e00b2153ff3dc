// Files the way a careful tool treats them: written whole or not at all, found where XDG says.
//
// writeFile() writes to a temporary beside the target and renames it, so that a reader, a crash, a
// full disk or Ctrl-C never leaves half a file; the temporary goes away on failure and on SIGINT
// and SIGTERM. Targets that are no regular files (/dev/stdout, a pipe) are written directly.
// It does not sync to the medium: what nvmove writes can be made again.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <set>
#include <string>
#include <vector>

namespace nvmove::support {

/// Creates or replaces \p Path with what \p Write produces. The error names the path and the cause.
llvm::Error writeFile(llvm::StringRef Path, llvm::function_ref<void(llvm::raw_ostream &)> Write);

/// NVMOVE_CACHE_DIR, else XDG_CACHE_HOME/nvmove, else ~/.cache/nvmove; "" when there is no home.
std::string cacheDirectory();

/// \p Path made absolute against \p Base (the working directory when empty), "." and ".." removed.
std::string absolutePath(llvm::StringRef Path, llvm::StringRef Base = "");

/// An error when one of \p Outputs (empty ones are none) is one of the files in \p Read, by this or
/// another name: no \p Work replaces what it reads.
llvm::Error refuseInputs(const std::vector<std::string> &Outputs, const std::set<std::string> &Read,
                         llvm::StringRef Work = "scan");

} // namespace nvmove::support
