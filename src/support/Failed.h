// An error made of a sentence.
#pragma once

#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

namespace nvmove::support {

/// The error that says \p What, without a code.
inline llvm::Error failed(const llvm::Twine &What) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), What);
}

} // namespace nvmove::support
