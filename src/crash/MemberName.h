// The member of a type that lies at a place, as a program would write it.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>

namespace nvmove::crash {

/// A place of a block, and what the pool's table of types says about it (nvm_type of nvmove/abi.h).
struct TypedPlace {
  llvm::StringRef Type, Members;
  uint64_t TypeSize = 0;
  uint64_t Inside = 0, BlockSize = 0; ///< bytes from the start of the block, and of all of it
};

struct MemberName {
  std::string Text;             ///< "field next of struct item"
  uint64_t First = 0, Size = 0; ///< of the member, or of the array's element: bytes of the block
};

/// "field pairs[2].key of struct table"; in a block with several records "field [3].next of struct
/// item". Of several members of a union the first; where there is none "byte 12 of struct item".
MemberName memberName(const TypedPlace &P);

} // namespace nvmove::crash
