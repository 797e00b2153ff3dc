// The records that an access of the source goes through, as far as they are one object: `p->u.s[2].n` is in the record of
// n, that of s, the union u and the record of p. Code shows no step of an address into a union or to a base class.
#pragma once

#include "clang/AST/Expr.h"
#include "llvm/ADT/SmallVector.h"

namespace nvmove::plugin {

class AccessChain {
public:
  /// \p Accessed: an lvalue.
  static AccessChain of(const clang::Expr &Accessed);
  /// Of what \p Pointer leads to.
  static AccessChain behind(const clang::Expr &Pointer);

  /// From the inside to the outside.
  llvm::ArrayRef<clang::QualType> records() const { return Records; }
  /// Whether code shows less: one of them is a union or begins with a base class.
  bool isHidden() const { return Hidden; }

private:
  void addLvalue(const clang::Expr *E);
  void addPointer(const clang::Expr *E);
  void addDerived(const clang::CastExpr &Cast);
  void add(clang::QualType Record);

  llvm::SmallVector<clang::QualType, 4> Records;
  bool Hidden = false;
};

} // namespace nvmove::plugin
