// Roots of the port file that this source defines: a section of struct nvm_root, which a constructor tells
// to the library.
#pragma once

#include "llvm/IR/Module.h"

namespace nvmove::plugin {

/// True: the module changed.
bool emitRoots(llvm::Module &M);

} // namespace nvmove::plugin
