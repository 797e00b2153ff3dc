// What the size of an allocation says of its block's type, as far as the source shows it.
//
// A size is a sum: `sizeof(struct table) + n * sizeof(struct item *)`. One term is the record at
// the block's start, what is added lies behind it. Which of them comes first a sum does not say:
// what the pointer that takes the block leads to does, or a flexible array, which ends its block.
// What may hold pointers and has no such place has no type that could be told, and is not called
// bytes: neither are a number of bytes that only the program's run knows, elements that are a sum
// themselves, and what the pointer that takes the block says otherwise.
#pragma once

#include "frontend/Layouts.h"

#include <optional>

namespace nvmove::plugin {

struct AllocationSize {
  clang::QualType Type; ///< null: may hold pointers, nobody knows where
  Rest Behind = Rest::None;
  bool NamesRecord = false; ///< a record's size is in it
};

/// From all integers that an allocator is given; \p Destination: of the pointer that takes the
/// block, or null. None: no type is named in them.
std::optional<AllocationSize> sizedBy(llvm::ArrayRef<const clang::Expr *> Integers,
                                      clang::QualType Destination, const LayoutBuilder &Layouts);

/// So many elements of a size that only the program's run knows, which may be those of pointers.
bool isProduct(const clang::Expr *E, const clang::ASTContext &Context);

/// Whether a pointer of that type says what lies there: characters and void do not.
bool tellsContent(clang::QualType Pointer);

} // namespace nvmove::plugin
