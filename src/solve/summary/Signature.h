// What the text of a function's type says: "int (const char *, void *)".
#pragma once

#include "llvm/ADT/StringRef.h"

namespace nvmove::solve {

/// True when parameter \p Number of a function with this signature text points to const.
bool parameterIsConst(llvm::StringRef Signature, unsigned Number);

} // namespace nvmove::solve
