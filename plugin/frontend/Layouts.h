// Layouts of types as the runtime needs them: where the pointers are, and what must not be guessed.
//
// A record is flattened: nested records and arrays become entries with their offset in the whole. A
// word of a union is a pointer when every member has a pointer to the same type there, or, for each
// that has one, when its own condition holds (Deciders.h); otherwise it is reported as a union
// word, which nobody relocates by guessing. So is one under an array of no elements (Tails.h).
// Bit-fields and integers are bytes. A pointee that this translation unit only declares has no id
// here, so its target is 0.
#pragma once

#include "frontend/Flattener.h"

#include "clang/AST/ASTContext.h"

#include <map>
#include <optional>

namespace nvmove::plugin {

/// What lies behind an object in its block, unless its type has a flexible array.
enum class Rest { None, Bytes /* without pointers */, Words /* nobody says */ };

class LayoutBuilder {
public:
  explicit LayoutBuilder(clang::ASTContext &Context);

  clang::ASTContext &context() const { return Context; }

  /// The id of a complete type; with a rest of one object of it.
  uint64_t describe(clang::QualType T, Rest Behind = Rest::None);

  /// Whether an object of the type has a word that the collector or a move would look at.
  bool holdsPointers(clang::QualType T) const;

  /// Whether it has one at all, of a volatile field, too.
  bool hasWords(clang::QualType T) const;

  /// The flexible array at the end of a type; none: it has none.
  std::optional<Word> tail(clang::QualType T) const;

  /// Whether a \p Whole has all words of a \p Part at their places, as a record that begins with
  /// the members of another.
  bool beginsWith(clang::QualType Whole, clang::QualType Part) const;

  /// At the end of the translation unit, when all that will be complete is: the layouts of the
  /// types described, and of those they point to.
  std::vector<TypeLayout> finish();

private:
  Words wordsOf(clang::QualType T, const TypeLayout &Type) const;
  TypeLayout begin(clang::QualType T) const;
  uint64_t enter(TypeLayout Made, const Words &All);

  clang::ASTContext &Context;
  clang::PrintingPolicy Names; ///< as C spells types, without places for unnamed ones
  std::vector<TypeLayout> Types;
  std::vector<std::vector<clang::QualType>> Targets;     ///< of each type's fields; null: none
  std::map<std::pair<const void *, Rest>, uint64_t> Ids; ///< by canonical type
};

} // namespace nvmove::plugin
