// Where control arrives without passing the returns between: behind setjmp, and at landing pads.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace nvmove::plugin {

/// Metadata of a call whose writes are noted before it, and noted anew as long as it runs.
constexpr llvm::StringLiteral NotedCallMark = "nvmove.noted.call";

/// setjmp and its kin. Not vfork: it returns twice, too, but nothing has been left then.
bool isSetjmp(const llvm::CallInst &Call);

/// Tells the runtime that the atomic calls below this frame were left, and the calls whose writes
/// are noted. True when \p F changed.
bool placeLandings(llvm::Function &F);

} // namespace nvmove::plugin
