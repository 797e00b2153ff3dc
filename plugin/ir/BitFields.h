// Volatile bit-fields: a store of one writes the whole unit of its neighbours, too, so no store is
// volatile by what it is, only by what it changes.
//
// The early phase marks such a store with the bits of its field, found as the front end writes
// them: the unit's old value with some bits replaced. Between the phases the optimizer may have
// removed an earlier store to a neighbour, as the marked one writes those bits again, with the new
// value. So the late phase looks once more whether all other bits are still the unit's own.
#pragma once

#include "llvm/IR/Instructions.h"

namespace nvmove::plugin {

/// Marks the stores to the volatile bit-fields of the front end's facts.
bool markBitFields(llvm::Module &M);

/// Whether the store is marked, and changes no other bits than its field's.
bool changesVolatileBitsOnly(const llvm::Instruction &I);

} // namespace nvmove::plugin
