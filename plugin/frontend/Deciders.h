// Marks on fields, and what decides whether a word is a pointer: NVM_WHEN, NVM_UNLESS and
// NVM_TAGGED_PTR on a field.
#pragma once

#include "base/Frontend.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "llvm/Support/raw_ostream.h"

namespace nvmove::plugin {

/// A record whose fields are being flattened, and the one around it.
struct Scope {
  const clang::RecordDecl *Record; ///< null: what is further out cannot decide
  uint64_t Offset;                 ///< bytes from the start of the whole
  const Scope *Around;
};

/// The mark of that name on a field; null: it has none.
const clang::AnnotateAttr *annotation(const clang::FieldDecl &Field, llvm::StringRef Name);

/// The bits of the word that are no address; 0 without the mark.
uint64_t annotatedTag(clang::ASTContext &Context, const clang::FieldDecl &Field);

/// The condition on the field, its member found in \p Around or further out. None: no mark, or the
/// member lies in a record around the outermost one that is looked at now.
std::optional<WhenLayout> annotatedWhen(clang::ASTContext &Context, const clang::FieldDecl &Field,
                                        const Scope *Around);

/// A condition on an array without a length: its elements have no record that could tell.
void refuseCondition(clang::ASTContext &Context, const clang::FieldDecl &Field);

/// A condition on members of which some have one themselves.
void refuseConditions(clang::ASTContext &Context, const clang::FieldDecl &Field);

/// A type whose words nvm_field has no room to describe.
void refuseSize(clang::ASTContext &Context, clang::QualType T);

/// A mark of pointers on what can be none.
void refuseMark(clang::ASTContext &Context, const clang::FieldDecl &Field);
void refuseBits(clang::ASTContext &Context, const clang::FieldDecl &Field);

/// For the identity of a layout.
void writeWhen(llvm::raw_ostream &OS, const WhenLayout &When);

} // namespace nvmove::plugin
