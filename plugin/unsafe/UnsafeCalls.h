// Calls of pre-compiled functions that are described: the notes before them.
#pragma once

#include "base/Report.h"
#include "base/UnsafeFile.h"

#include "llvm/IR/IRBuilder.h"

namespace nvmove::plugin {

/// A call's arguments, or those of a wrapper.
struct UnsafeCall {
  llvm::Instruction *Before = nullptr;
  llvm::SmallVector<llvm::Value *> Arguments;
  bool IsWrapper = false; ///< whose arguments may be anything
};

/// Notes the ranges that \p F writes, as far as \p MayPersist says that the argument which holds
/// the address may be persistent; false when there was nothing to note. What cannot be expressed (a
/// format that is computed) is a warning.
bool noteBefore(const UnsafeCall &Call, const UnsafeFunction &F,
                llvm::function_ref<bool(const llvm::Value *)> MayPersist, Report &Warnings);

/// Hands out the bytes among \p Ranges, of \p F, that \p Call accesses behind an argument: the argument,
/// the address and the size, computed where \p Place says for that argument (null: it is not wanted).
/// Ranges that a format decides, or that are reached through memory, are left out.
void bytesBefore(const UnsafeCall &Call, const UnsafeFunction &F,
                 llvm::ArrayRef<UnsafeRange> Ranges,
                 llvm::function_ref<llvm::Instruction *(llvm::Value *)> Place,
                 llvm::function_ref<void(llvm::IRBuilderBase &, llvm::Value *Argument,
                                         llvm::Value *Address, llvm::Value *Size)>
                     Each);

} // namespace nvmove::plugin
