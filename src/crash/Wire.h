// Findings and results as bytes, between a process and one that it was forked from: places in the
// source are told by their addresses, which are the same in both.
#pragma once

#include "crash/Result.h"

namespace nvmove::crash {

std::string packed(const Finding &F);
std::string packed(const Result &R);
/// Nothing: the bytes are none.
std::optional<Finding> unpackedFinding(llvm::StringRef Bytes);
std::optional<Result> unpackedResult(llvm::StringRef Bytes);

} // namespace nvmove::crash
