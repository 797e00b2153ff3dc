// Words of two layouts of a type: whether a value is the same pointer, or the same number, in both.
#pragma once

#include "pool/Plan.h"

namespace nvmove::pool {

/// The fields that say what the word at \p Offset is, those of a flexible array's elements too. Several have a
/// condition each.
std::vector<const nvm_field *> wordsAt(const nvm_type &Type, uint64_t Offset,
                                       llvm::function_ref<const nvm_type *(uint64_t)> Find);

/// Whether the byte there belongs to a member that is stored to without notes.
bool isVolatile(const nvm_type &Type, uint64_t Offset);

/// The two types, and what the map says of them.
struct Layout {
  const nvm_type &Type;
  const Record &Shape;
};

class WordMatcher {
public:
  WordMatcher(Layout Old, Layout New, const TypeChange &Change, const Types &All)
      : Old(Old), New(New), Change(Change), All(All) {}

  /// Empty, or why the value at \p From of the old type cannot be what the new one has at \p To.
  std::string mismatch(uint64_t From, uint64_t To) const;

private:
  std::string mismatchOf(const nvm_field &Was, const nvm_field &Is) const;
  bool isSameCondition(const nvm_when *Was, const nvm_when *Is) const;
  /// The program's member that decides becomes the pool's of this name; empty: of none.
  std::string wasCalled(const std::string &Name) const;

  Layout Old, New;
  const TypeChange &Change;
  const Types &All;
};

} // namespace nvmove::pool
