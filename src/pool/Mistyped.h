// Pointers that lead to a block of a type that has nothing of what their field points to.
//
// A pointer to a block that was freed and given out again leads to an allocated block, so no check
// of addresses finds it. What is left to see is the type: the field says `struct item *`, the block
// there is a `struct page`. That is a hint and no fault, since a C program may cast. Two types
// agree where their members coincide in place, size and kind as far as both reach (a record in
// another, a common first part). Of a block that is longer than its type, and whose type ends in an
// array, only the first record is judged. Where one of the two types has a union, plain characters
// or a word of no known type, nothing is said. A freed block that was given out as the same type
// again is not seen.
#pragma once

#include "nvmove/inspect.h"

#include <string>
#include <vector>

namespace nvmove::pool {

/// One line for each field of a type that has such a pointer, with the first of them and how many.
/// \p Pool is open and nobody else uses it.
std::vector<std::string> findMistyped(NVM_POOL *Pool);

/// Whether a record of type \p Pointee may lie \p At bytes from the start of a block of type \p Block, as far as both
/// reach: the place, size and kind of their members agree.
bool mayLieIn(const nvm_type &Pointee, const nvm_type &Block, uint64_t At);

} // namespace nvmove::pool
