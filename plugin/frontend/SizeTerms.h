// The parts of the size of an allocation (AllocationSize.h): what is added up in it.
#pragma once

#include "frontend/Layouts.h"

namespace clang {
class BinaryOperator;
class OffsetOfExpr;
} // namespace clang

namespace nvmove::plugin {

/// A part of a sum.
struct Term {
  clang::QualType Type;  ///< what is measured; null: a number, or what is not understood
  bool Many = false;     ///< multiplied
  bool Before = false;   ///< offsetof: of the record what lies before its flexible array
  bool Open = false;     ///< so many bytes that only the program's run knows, whatever they hold
  bool Anything = false; ///< elements of which each is a sum, with pointers among them
};

class Terms {
public:
  Terms(const clang::Expr *E, const LayoutBuilder &Layouts) : Layouts(&Layouts) { add(E); }

  const std::vector<Term> &all() const { return All; }
  bool named() const; ///< a type is
  bool mayHoldPointers() const;
  bool holdsPointers(const Term &T) const;

  /// So many of the whole.
  void multiply();

private:
  void add(const clang::Expr *E);
  void addProduct(const clang::BinaryOperator &Product);
  bool computesWithPointers(const clang::Expr &E) const;
  bool endsBeforeFlexibleArray(const clang::OffsetOfExpr &Offset) const;
  Term many() const;

  const LayoutBuilder *Layouts;
  std::vector<Term> All;
};

/// No factor: 1, 0 or a truth.
bool isOnce(const clang::Expr &E, const clang::ASTContext &Context);

} // namespace nvmove::plugin
