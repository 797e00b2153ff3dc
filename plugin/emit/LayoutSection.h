// Puts the record layouts that the front end found into section `nvm_types` (abi.h).
#pragma once

#include "llvm/IR/Module.h"

namespace nvmove::plugin {

void emitTypeLayouts(llvm::Module &M);

/// Once in each program or library: a constructor, before those of the source, that tells the
/// runtime of a section by calling \p By with its bounds. \p IfThere: unless no runtime is linked.
void describeSection(llvm::Module &M, llvm::StringRef Section, llvm::StringRef By,
                     bool IfThere = false);

} // namespace nvmove::plugin
