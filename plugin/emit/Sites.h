// Places in the source as data of the object file: struct nvm_site (include/nvmove/abi.h).
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace nvmove::plugin {

/// The site of \p I, with \p Field, or else the one that is assigned there where the front end
/// knows it.
llvm::Constant *makeSite(llvm::IRBuilderBase &At, const llvm::Instruction &I,
                         llvm::StringRef Field = "");

/// Its key in what the front end knows of places (placeKey).
std::string siteKey(const llvm::Instruction &I);

} // namespace nvmove::plugin
