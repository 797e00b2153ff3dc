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

/// What lies at byte \p Place of the file, in words: "field next of struct item", with the indices
/// of arrays; "byte 8 of a block of 64 bytes without type". Empty: it is in no block.
std::string nameOf(NVM_POOL *Pool, uint64_t Place);

/// The same of the image at \p Path.
std::string nameIn(const std::string &Path, uint64_t Place);

} // namespace nvmove::crash
