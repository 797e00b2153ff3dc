// Where the conversions of a printf or scanf format store, as far as the format is known.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace nvmove::plugin {

/// A conversion that stores through one of the arguments that follow the format.
struct FormatStore {
  unsigned Argument = 0;  ///< counted from the first after the format
  uint64_t Size = 0;      ///< bytes; of one character when Unbounded
  bool Unbounded = false; ///< a string or character set without a width
};

/// The stores of a scanf conversion list.
llvm::SmallVector<FormatStore> scanfStores(llvm::StringRef Format);

/// The stores of the %n of a printf format.
llvm::SmallVector<FormatStore> printfStores(llvm::StringRef Format);

} // namespace nvmove::plugin
