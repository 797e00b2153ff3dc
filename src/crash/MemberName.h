// The member of a type that lies at a place, as a program would write it.
#pragma once

#include "nvmove/abi.h"

#include <string>

namespace nvmove::crash {

/// "field next of struct item", "field pairs[2].key of struct table"; in a block with several records
/// "field [3].next of struct item". \p Inside: bytes from the start of the block, which has \p Size.
std::string memberName(const nvm_type &Type, uint64_t Inside, uint64_t Size);

} // namespace nvmove::crash
