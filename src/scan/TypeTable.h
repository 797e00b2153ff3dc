// Turns Clang's types, records and source positions into the tables of a TranslationUnit.
//
// Every table interns: the same canonical type, record, symbol or text gets the same index. Records
// are recorded with their fields as soon as they are referred to and complete; typedef names are
// added once, at the end of the TU, by addAliases().
#pragma once

#include "facts/Facts.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace nvmove::scan {

class TypeTable {
public:
  TypeTable(clang::ASTContext &Context, facts::TranslationUnit &Unit);

  facts::StringId text(llvm::StringRef Text);
  facts::Location location(clang::SourceLocation Where);
  facts::TypeId type(clang::QualType Type);
  facts::RecordId record(const clang::RecordDecl *Record);
  /// Function or variable; \p Local tells that it is an automatic variable of the current function.
  facts::SymbolId symbol(const clang::ValueDecl *Decl, bool Local = false);

  /// The next function with a body, each once, that symbol() was asked for; null when none is left.
  const clang::FunctionDecl *nextReached() {
    return NextReached == Reached.size() ? nullptr : Reached[NextReached++];
  }

  /// A nameless object of the current function: the storage of a compound literal.
  facts::SymbolId temporary(clang::QualType Type, clang::SourceLocation Where);

  /// True when an object of this type can hold a pointer (so that an initialiser is worth a look).
  bool holdsPointers(clang::QualType Type);
  /// Index of \p Field in its record.
  static unsigned fieldIndex(const clang::FieldDecl *Field) { return Field->getFieldIndex(); }
  uint64_t fieldOffset(const clang::FieldDecl *Field);

  /// Adds every typedef of a recorded record to its aliases; call once, last.
  void addAliases();

  clang::ASTContext &context() { return Context; }

private:
  facts::TypeId build(clang::QualType Canonical);
  void fillFields(facts::RecordId Id, const clang::RecordDecl *Definition);
  void describeFunction(facts::Symbol &Symbol, const clang::FunctionDecl *Function);

  clang::ASTContext &Context;
  facts::TranslationUnit &Unit;
  llvm::StringMap<facts::StringId> Texts;
  llvm::DenseMap<const void *, facts::TypeId> Types;
  llvm::DenseMap<const clang::RecordDecl *, facts::RecordId> Records;
  llvm::DenseMap<const clang::ValueDecl *, facts::SymbolId> Symbols;
  llvm::DenseMap<clang::FileID, facts::StringId> Files;
  llvm::DenseMap<const void *, bool> PointerHolders;
  std::vector<const clang::FunctionDecl *> Reached;
  size_t NextReached = 0;
};

} // namespace nvmove::scan
