// Annotations that the compiler adds to fields, as if NVM_ANNOTATE with arguments stood there.
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"

namespace nvmove::plugin {

void annotate(clang::ASTContext &Context, clang::FieldDecl &Field, llvm::StringRef Annotation,
              llvm::ArrayRef<clang::Expr *> Arguments);

/// Arguments: a number, and a text.
clang::Expr *number(clang::ASTContext &Context, uint64_t Value, const clang::FieldDecl &At);
clang::Expr *text(clang::ASTContext &Context, llvm::StringRef Text, const clang::FieldDecl &At);

/// A volatile field that is a union looks in the code like a member of that union. So its size in
/// bytes is added to its mark, before code is generated for what uses the record.
void sizeVolatileUnions(clang::ASTContext &Context, const clang::RecordDecl &Record);

} // namespace nvmove::plugin
