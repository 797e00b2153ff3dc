// What the JSON documents of this room have in common: types (Report.h) and suggestions (Suggestions.h).
#pragma once

#include "llvm/Support/JSON.h"

#include <string>

namespace nvmove::report {

constexpr int SchemaVersion = 1; ///< Raised when a key changes its meaning or goes away.
constexpr unsigned Indent = 1;

/// \p Text as UTF-8: paths and source text need not be it, JSON must be.
inline std::string clean(llvm::StringRef Text) { return llvm::json::fixUTF8(Text); }

} // namespace nvmove::report
