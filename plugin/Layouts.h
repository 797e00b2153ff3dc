// Layouts of types as the runtime needs them: where the pointers are, and what must not be guessed.
//
// A record is flattened: nested records and arrays become entries with their offset in the whole. A
// word of a union is a pointer only when every member has a pointer to the same type there;
// otherwise it is reported as a union word, which nobody relocates by guessing. Bit-fields and
// integers are bytes. A pointee that this translation unit only declares has no id here, so its
// target is 0.
#pragma once

#include "Frontend.h"

#include "clang/AST/ASTContext.h"

namespace nvmove::plugin {

class LayoutBuilder {
public:
  LayoutBuilder(clang::ASTContext &Context, std::vector<TypeLayout> &Types);

  /// The id of a complete type; its layout, and those of what it points to, are added to the types.
  uint64_t describe(clang::QualType T);

private:
  clang::ASTContext &Context;
  clang::PrintingPolicy Names; ///< as C spells types, without places for unnamed ones
  std::vector<TypeLayout> &Types;
  llvm::DenseMap<const void *, uint64_t> Ids; ///< by canonical type
};

} // namespace nvmove::plugin
