// Pieces of source that the port file adds to a program: calls of markers, which the IR half turns
// into stores to __nvm_placing (PortCode.h).
#pragma once

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/StringMap.h"

namespace nvmove::plugin {

class Markers {
public:
  explicit Markers(clang::ASTContext &Context) : Context(Context) {}

  clang::QualType word() const { return Context.UnsignedLongTy; }
  clang::Expr *number(uint64_t Value, const clang::Expr &At) const;
  /// An integer or a pointer as another.
  clang::Expr *cast(clang::Expr *E, clang::QualType To) const;
  clang::Expr *call(llvm::StringRef Name, clang::QualType Result,
                    llvm::ArrayRef<clang::Expr *> Arguments);

  /// \p Value of any type, computed in a scope that ends however it is left.
  clang::Expr *inScope(clang::FunctionDecl &Around, clang::Expr *Value, uint64_t Scope);

private:
  clang::FunctionDecl *declare(llvm::StringRef Name, clang::QualType Result,
                               llvm::ArrayRef<clang::QualType> Types);
  clang::VarDecl *variable(clang::FunctionDecl &Around, llvm::StringRef Name, clang::Expr *Value);

  clang::ASTContext &Context;
  llvm::StringMap<clang::FunctionDecl *> Declared;
};

} // namespace nvmove::plugin
