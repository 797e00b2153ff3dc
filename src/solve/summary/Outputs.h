// Which library functions give something out, and where to (Outputs.def).
#pragma once

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace nvmove::solve {

inline constexpr int StandardOutput = -1;

enum class OutputWay : unsigned char { Direct, Stream, Flush };

struct Output {
  int Where = StandardOutput; ///< The argument that is the stream or descriptor.
  OutputWay How = OutputWay::Direct;
};

/// None where \p Name (as ExternalInfo spells it) gives nothing out.
std::optional<Output> outputOf(llvm::StringRef Name);

} // namespace nvmove::solve
