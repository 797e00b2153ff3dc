// A pool for a program whose types have changed, made from the one that it had.
//
// All blocks are allocated anew; those of types that changed are filled member by member (Plan.h),
// the others copied. Then each word that the new layouts call a pointer, and that leads into the
// old pool, gets the place where that went. What nobody decides is refused, as when a pool moves.
#pragma once

#include "pool/FieldMap.h"
#include "pool/Layouts.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nvmove::pool {

struct Converted {
  uint64_t Blocks = 0, Changed = 0, Pointers = 0;
  std::vector<std::string> Notes; ///< by type: what is new, what is given up
};

/// \p Progress is told how far it is. \p Size: at first; 0: that of the pool. \p To must not exist;
/// it has its name once it is whole, checked and on the disk. \p Program null: types stay.
llvm::Expected<Converted> convert(const std::string &From, const std::string &To, uint64_t Size,
                                  const Layouts *Program, const FieldMap &Map,
                                  llvm::function_ref<void(uint64_t, uint64_t)> Progress);

} // namespace nvmove::pool
