// The code that stands before a write: "is it in the range, and not noted yet? then note it".
//
// include/nvmove/abi.h has the sequence in C. How much of it stands inline, Heat.h decides. Where
// the range test does, a program without a pool open pays for a shift, a comparison and a branch;
// the rest is a call of what the module has for writes of that size (SharedNotes.h).
#pragma once

#include "ir/Heat.h"

#include "llvm/IR/IRBuilder.h"

namespace nvmove::plugin {

/// A note to be placed, decided but not yet emitted.
struct Note {
  llvm::Instruction *Before = nullptr;
  llvm::Value *Address = nullptr;
  uint64_t Size = 0;             ///< bytes, or 0: as Length says, which may be 0
  llvm::Value *Length = nullptr; ///< bytes, 64 bits
  Heat Where = Heat::Once;
};

/// Emits \p N; splits the block of N.Before.
void emitNote(const Note &N);

/// Emits notes that stand together (Groups.h): all before the first, with one wait behind them.
void emitGroup(llvm::ArrayRef<Note> Group);

/// The notes of one masked vector write: lane I, of \p LaneSize bytes, when bit I of \p Mask is
/// set.
/// \p Addresses is a vector of addresses, or one address with the lanes side by side.
void emitLaneNotes(llvm::Instruction *Before, llvm::Value *Addresses, llvm::Value *Mask,
                   uint64_t LaneSize);

/// "Address lies in the reserved range", as a condition.
llvm::Value *inRange(llvm::IRBuilderBase &At, llvm::Value *Address);

/// Splits before \p At; what it returns ends a block that runs when \p Unlikely holds.
llvm::Instruction *unlikelyBlock(llvm::Value *Unlikely, llvm::Instruction *At);

/// Where code goes that runs behind \p Access, at its place in the source, if \p Address lies in the
/// reserved range.
llvm::Instruction *behindIfInRange(llvm::Instruction &Access, llvm::Value *Address);

} // namespace nvmove::plugin
