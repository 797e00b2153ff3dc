// Puts the record layouts that the front end found into section `nvm_types` (abi.h).
#pragma once

#include "llvm/IR/Module.h"

namespace nvmove::plugin {

void emitTypeLayouts(llvm::Module &M);

} // namespace nvmove::plugin
