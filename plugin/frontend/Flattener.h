// The words of a type that are not plain bytes, by their place in it (Layouts.h).
#pragma once

#include "frontend/Deciders.h"

#include "nvmove/abi.h"

#include <vector>

namespace nvmove::plugin {

/// A field before the ids of what fields point to are known.
struct Word {
  FieldLayout Layout;
  clang::QualType Target; ///< canonical; null: none
  /// Of a flexible array whose elements are not what their type alone says: the words of one, from
  /// its start on.
  std::vector<Word> Elements;

  /// Of a tail that goes on behind a union, whose other members leave it room: bytes from where it
  /// begins to the union's end.
  std::optional<int64_t> Spilt;

  bool IsLock = false; ///< volatile without a mark; in a union the other members count

  bool isTail() const { return Layout.Kind == NVM_FIELD_FLEXIBLE_ARRAY; }

  /// The value says whether it is a pointer, whoever wrote it.
  bool tellsItself() const {
    return Layout.Kind == NVM_FIELD_EITHER || Layout.Kind == NVM_FIELD_ADDRESS;
  }

  /// Whether it is the other word, or an array that begins with that.
  bool covers(const Word &Other) const {
    return Layout.Offset == Other.Layout.Offset && Layout.Kind == Other.Layout.Kind &&
           Layout.Tag == Other.Layout.Tag && Layout.Count >= Other.Layout.Count &&
           (Other.Layout.Count < 2 || Layout.Stride == Other.Layout.Stride) &&
           Target == Other.Target && Elements.empty() && Other.Elements.empty() && !Layout.When &&
           !Other.Layout.When;
  }
};
using Words = std::vector<Word>;

/// Whether a bit-field shares no byte with others: only such a one can be volatile.
bool fillsBytes(const clang::ASTContext &Context, const clang::FieldDecl &Field);

class Flattener {
public:
  explicit Flattener(clang::ASTContext &Context) : Context(Context) {}

  /// The words of \p T at \p Offset; \p Kind is what a pointer found there is.
  Words flatten(clang::QualType T, uint64_t Offset, const std::string &Name,
                uint32_t Kind = NVM_FIELD_POINTER, const Scope *Around = nullptr) const;

  /// Bytes from \p Offset to the end of the block that hold no pointers.
  Word plainTail(uint64_t Offset, const std::string &Name) const;

  /// The same, of words that nobody decides.
  Word undecidedTail(uint64_t Offset, const std::string &Name) const;

  /// The words of one element of a flexible array, from its start on.
  Words elements(const Word &Tail) const;

  /// What the word at \p Place is, where several may lie, from what it is in those that have one;
  /// \p InAll: all have.
  Words decide(const Words &Alternatives, bool InAll, uint64_t Place) const;

  Word volatileBytes(const std::string &Name, uint64_t Offset, uint64_t Count) const;

private:
  uint64_t bytes(clang::CharUnits Units) const { return uint64_t(Units.getQuantity()); }
  uint64_t sizeOf(clang::QualType T) const { return bytes(Context.getTypeSizeInChars(T)); }
  /// Without the padding at its end that other members may use.
  uint64_t sizeOf(const clang::FieldDecl &Field) const;
  uint64_t offsetOf(const clang::ASTRecordLayout &Layout, const clang::FieldDecl &Field) const;

  bool isWord(clang::QualType T) const;
  Word word(const std::string &Name, uint64_t Offset, uint32_t Kind, clang::QualType Target) const;
  Words repeat(clang::QualType Element, uint64_t Count, uint64_t Offset, const std::string &Name,
               uint32_t Kind, const Scope *Around) const;
  Words flattenNumber(clang::QualType T, uint64_t Offset, const std::string &Name,
                      uint32_t Kind) const;
  Words flattenBits(const clang::FieldDecl &Field, uint64_t Offset, const std::string &Name) const;
  Words flattenTail(const clang::FieldDecl &Field, clang::QualType Element, uint64_t Offset,
                    const std::string &Name, const Scope *Around) const;
  Words flattenMarked(const clang::FieldDecl &Field, clang::QualType T, uint64_t Offset,
                      const std::string &Name, const Scope *Around) const;
  Words flattenField(const clang::FieldDecl &Field, uint64_t Offset, const std::string &Prefix,
                     const Scope *Around) const;
  Words flattenWhole(const clang::RecordDecl &Record, uint64_t Offset, const std::string &Prefix,
                     const Scope *Around) const;
  Words flattenRecord(const clang::RecordDecl &Record, uint64_t Offset, const std::string &Prefix,
                      const Scope *Around) const;
  Words flattenUnion(const clang::RecordDecl &Union, uint64_t Offset, const std::string &Prefix,
                     const Scope *Around) const;
  clang::ASTContext &Context;
};

} // namespace nvmove::plugin
