// What the verbs of `nvmove pool` share: one file for those that look, one for each that does more.
#pragma once

#include "nvmove/Arguments.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"

namespace nvmove::tool {

/// To -o or stdout.
llvm::Error print(const Arguments &A, llvm::function_ref<void(llvm::raw_ostream &)> Write);
/// Of a pass over the pool, on a terminal.
void showProgress(uint64_t Done, uint64_t Total);
void printJson(llvm::raw_ostream &OS, llvm::json::Value Value);

/// PoolBackup.cpp.
llvm::Expected<int> backUp(const Arguments &A);
/// PoolConvert.cpp.
llvm::Expected<int> convertPool(const Arguments &A);
/// PoolRepair.cpp.
llvm::Expected<int> repairPool(const Arguments &A);

} // namespace nvmove::tool
