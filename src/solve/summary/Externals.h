// The effects of functions without a body, as a table (Externals.def).
#pragma once

#include "facts/Facts.h"

#include "llvm/ADT/StringRef.h"

namespace nvmove::solve {

enum class Effect : uint8_t {
  Unknown,
  Open,
  OpenAt,
  Map,
  Read,
  ReadValue,
  Allocate,
  AllocateAt,
  Resize,
  Release,
  Duplicate,
  CopyBytes,
  Within,
  Parse,
  ReadLine,
  Register,
  Deliver,
  Start,
  Nothing,
};

struct ExternalEffect {
  Effect What = Effect::Unknown;
  int A = -1, B = -1, C = -1; ///< Argument numbers, see Externals.def.
};

/// In B of a Release: the function frees on some ways through only.
inline constexpr int Conditional = 0;
/// In C of a Release: what the argument points to is freed, as in "free(*p)".
inline constexpr int ThroughPointer = 1;

/// \p Name as ExternalInfo spells it.
ExternalEffect effectOf(llvm::StringRef Name);

/// True when the call is an Open whose mode is a literal for writing only.
bool writesOnly(const facts::Instruction &Call, const ExternalEffect &E);

/// Functions that never return although no declaration says so in every system's headers.
bool neverReturns(llvm::StringRef Name);

} // namespace nvmove::solve
