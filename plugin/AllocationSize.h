// What the size of an allocation says of its block's type, as far as the source shows it.
//
// A size is a sum: `sizeof(struct table) + n * sizeof(struct item *)`. One term is the record at
// the block's start, what is added lies behind it. What lies there and may hold pointers without
// being the record's flexible array has no type that could be told, and is not called bytes: a
// number of bytes that only the program's run knows may be one of pointers.
#pragma once

#include "Layouts.h"

#include <optional>

namespace nvmove::plugin {

struct AllocationSize {
  clang::QualType Type; ///< null: may hold pointers, nobody knows where
  Rest Behind = Rest::None;
};

/// None: no type is named in the size \p E.
std::optional<AllocationSize> sizedBy(const clang::Expr *E, const LayoutBuilder &Layouts);

/// So many elements of a size that only the program's run knows, which may be those of pointers.
bool isProduct(const clang::Expr *E, const clang::ASTContext &Context);

} // namespace nvmove::plugin
