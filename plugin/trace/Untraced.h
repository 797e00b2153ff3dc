// Sources that are compiled without --nvmove-trace: `nvmove crash` names them where others of the same
// program are traced.
#pragma once

#include "llvm/IR/Module.h"

namespace nvmove::plugin {

/// Puts the name of the source of \p M into section `nvm_untraced` (abi.h), if it has functions and
/// is not traced. \p Describes: and a constructor that tells the runtime of the section in the program
/// or library.
void nameUntraced(llvm::Module &M, bool Describes);

} // namespace nvmove::plugin
