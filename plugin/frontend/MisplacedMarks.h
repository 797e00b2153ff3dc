// Marks of include/nvmove/marks.h where they have no effect: an error, as nothing would be kept, or
// left out, that the source seems to ask for.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"

namespace nvmove::plugin {

void refuseMisplacedMarks(clang::ASTContext &Context, const clang::Decl &D);

} // namespace nvmove::plugin
