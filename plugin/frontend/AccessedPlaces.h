// What the source accesses at its places, where the address in the code does not show it: whole records, members of
// unions, the first bit-fields of a record, and the fields that are stored to. For the checked build and emulations.
#pragma once

#include "clang/AST/Expr.h"
#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace clang {
class AtomicExpr;
class CXXConstructExpr;
} // namespace clang

namespace nvmove::plugin {

class AccessChain;
class LayoutBuilder;

/// Adds what it is shown to the facts of this compilation (frontendFacts).
class AccessedPlaces {
public:
  AccessedPlaces(clang::ASTContext &Context, LayoutBuilder &Layouts)
      : Context(Context), Layouts(Layouts) {}

  void noteMember(const clang::MemberExpr &Member);
  void noteChange(const clang::UnaryOperator &Change);
  void noteRead(const clang::ImplicitCastExpr &Cast);
  void noteConstructed(const clang::CXXConstructExpr &Made);
  void noteBinary(const clang::BinaryOperator &Operator);
  void noteAtomic(const clang::AtomicExpr &Access);
  void noteCall(const clang::CallExpr &Call);
  /// placeKey; empty: nowhere.
  std::string keyOf(clang::SourceLocation At) const;

private:
  using Ids = std::set<uint64_t>;

  void noteCopied(llvm::StringMap<Ids> &To, clang::QualType T, clang::SourceLocation At);
  void noteAssigned(const clang::CallExpr &Call, const clang::FunctionDecl *Callee);
  void noteAssignment(const clang::BinaryOperator &Assignment);
  void noteByPointer(const clang::BinaryOperator &Accessed, clang::SourceLocation At);
  void notePointed(llvm::StringMap<Ids> &To, const clang::Expr &Pointer, clang::SourceLocation At);
  void noteHidden(const clang::Expr *Accessed, clang::SourceLocation At);
  void noteThrough(llvm::StringMap<std::vector<Ids>> &To, const AccessChain &Chain,
                   clang::SourceLocation At);
  void noteStored(const clang::Expr &To, clang::SourceLocation At);

  clang::ASTContext &Context;
  LayoutBuilder &Layouts;
};

} // namespace nvmove::plugin
