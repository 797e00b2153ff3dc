// A type's members as lines of text (nvmove/abi.h, struct nvm_type): what people read, and what
// tells two layouts of one type apart.
#pragma once

#include "clang/AST/ASTContext.h"

#include <string>

namespace nvmove::plugin {

/// \p Names: how types are spelt.
std::string memberLines(const clang::ASTContext &Context, const clang::PrintingPolicy &Names,
                        clang::QualType T);

} // namespace nvmove::plugin
