// Facts on disk (.nvf): one translation unit a file, versioned and checksummed.
// The byte layout is written down in docs/internals/facts-format.md.
#pragma once

#include "facts/Facts.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace nvmove::facts {

/// Raised whenever the layout or the meaning of a recorded fact changes; part of every cache key.
inline constexpr uint32_t FormatVersion = 5;

/// The whole file image of \p Unit.
std::string serialise(const TranslationUnit &Unit);

/// Parses and checks a file image; \p Path is for the error text only. Never trusts a length or an
/// index: a damaged or foreign file gives an error that says what is wrong, at which byte.
llvm::Expected<TranslationUnit> deserialise(llvm::StringRef Image, llvm::StringRef Path);

/// An error that names the first index of \p Unit that is out of range.
llvm::Error verify(const TranslationUnit &Unit);

/// Writes the facts for people and tests to read: one line a symbol, record field or instruction.
std::string dump(const TranslationUnit &Unit);

} // namespace nvmove::facts
