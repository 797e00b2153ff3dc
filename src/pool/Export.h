// A pool saved by its program's own means: the program runs on a private view of the pool.
#pragma once

#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace nvmove::pool {

/// Runs \p Program, whose openings of pools change no file, and has it call \p Call
/// ("save(\"x\",0)"; runtime/admin/call.h); empty: it runs as it always does. Gives what the
/// function gave.
llvm::Expected<std::optional<int>> exportPool(const std::string &Path, const std::string &Call,
                                              const std::vector<std::string> &Program);

} // namespace nvmove::pool
