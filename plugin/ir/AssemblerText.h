// What inline assembler does that crash consistency depends on, as far as its text shows it.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace nvmove::plugin {

enum class AssemblerKind {
  Flush,       ///< clflushopt, clwb: by the next fence
  FlushAtOnce, ///< clflush
  Fence,       ///< sfence, mfence, a lock prefix, xchg, cpuid, serialize
  Stream,      ///< movnt*
};

struct AssemblerStep {
  AssemblerKind Kind;
  int Operand = -1;     ///< number of the operand that is the address; -1: none, or not known
  int Register = -1;    ///< or the number of the register that has it
  bool IsFirst = false; ///< a fence before which the assembler does nothing
};

/// In the order of the text, which is LLVM's: "$0" is an operand. Processors that do not know
/// clflushopt or clwb are given them as a byte or "data16" before another instruction, or as bytes.
llvm::SmallVector<AssemblerStep> readAssembler(llvm::StringRef Text);

} // namespace nvmove::plugin
