// "Did you mean": the known words nearest to one that is not known.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace nvmove::support {

/// Up to \p Max of \p Known, nearest first: within a third of the word's length in edits (at least
/// two; case aside), or containing the word. No duplicates.
std::vector<std::string> nearest(llvm::StringRef Word, llvm::ArrayRef<std::string> Known,
                                 size_t Max = 3);

/// "; did you mean 'a' or 'b'?", or "" for an empty list.
std::string didYouMean(llvm::ArrayRef<std::string> Candidates);

} // namespace nvmove::support
