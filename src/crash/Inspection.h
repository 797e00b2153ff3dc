// What the pool of a state says of itself: its types, and pointers that lead nowhere.
//
// A process of its own opens the image as the program would open it after the crash, a private copy
// (NVMOVE_OPEN=copy). It is asked for messages and where a trace gives reason, not for each state.
#pragma once

#include "nvmove/nvmove.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace nvmove::crash {

/// What \p Look writes about the pool at \p Path. Empty also where it cannot be opened, or takes
/// longer than a judge waits.
std::string inspect(const std::string &Path,
                    llvm::function_ref<void(NVM_POOL *, llvm::raw_ostream &)> Look);

/// What lies at byte \p Place of the file, in words: as MemberName.h says it, or "byte 8 of a block
/// of 64 bytes without type". Empty: it is in no block.
std::string nameOf(NVM_POOL *Pool, uint64_t Place);

/// A field of at most a word that lies somewhere in the file, and its value.
struct Field {
  std::string Name; ///< empty: nothing is known of the place
  uint64_t Place = 0;
  unsigned Size = 0; ///< 0: the value is of no interest, it is no number
  uint64_t Value = 0;
};
/// Of the image at \p Path, around byte \p Place.
Field fieldIn(const std::string &Path, uint64_t Place);

} // namespace nvmove::crash
