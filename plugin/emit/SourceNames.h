// Names of sources that are compiled without an option that the others of the same program may have.
#pragma once

#include "llvm/IR/Module.h"

namespace nvmove::plugin {

/// Without --nvmove-trace: `nvmove crash` names them. Puts the name of the source of \p M into section
/// `nvm_untraced` (abi.h), if it has functions and is not traced. \p Describes: and a constructor that
/// tells the runtime of the section in the program or library.
void nameUntraced(llvm::Module &M, bool Describes);

/// Without --nvmove-redirect, into section `nvm_accesses`: methods that need redirected accesses refuse such a program,
/// also one of which a source only reads. A source with the option says so there.
void nameAccesses(llvm::Module &M);

} // namespace nvmove::plugin
