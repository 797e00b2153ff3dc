// Words of two layouts of a type: whether a value is the same pointer, or the same number, in both.
#pragma once

#include "pool/Plan.h"

#include <map>

namespace nvmove::pool {

/// A field that says what a word is, the type that has it, and where this begins in the whole.
struct WordField {
  const nvm_field *Field;
  const nvm_type *Type;
  uint64_t Base;
};

/// What the word at \p Offset is; that of the first element for all of a flexible array. Several fields have a
/// condition each.
std::vector<WordField> wordsAt(const nvm_type &Type, uint64_t Offset,
                               llvm::function_ref<const nvm_type *(uint64_t)> Find,
                               uint64_t Base = 0);

/// Whether the byte there belongs to a member that is stored to without notes.
bool isVolatile(const nvm_type &Type, uint64_t Offset);

/// A type, and its members.
struct Layout {
  const nvm_type &Type;
  const Record &Shape;
};

class WordMatcher {
public:
  WordMatcher(Layout Old, Layout New, const Types &All) : Old(Old), New(New), All(All) {}

  /// Whether the pool's type has more than a plain number there.
  bool isWord(uint64_t Offset) const { return !wordsAt(Old.Type, Offset, All.Old).empty(); }

  /// Names of fields: the pool's, and the program's that have the same values.
  using Names = std::map<std::string, std::string>;
  /// Empty, or why the value at \p From of the old type cannot be what the new one has at \p To.
  std::string mismatch(uint64_t From, uint64_t To, const Names &Successors) const;

private:
  std::string mismatchOf(const WordField &Were, const WordField &Are) const;
  bool isSameCondition(const WordField &Was, const WordField &Is, const Names &Successors) const;

  Layout Old, New;
  const Types &All;
};

} // namespace nvmove::pool
