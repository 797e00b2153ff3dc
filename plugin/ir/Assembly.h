// What the text of inline assembler says of the memory that it may write.
//
// An address in a register, or one that was made a number, is only written through where the
// assembler forms an address of it: by parentheses or brackets, by an instruction that has one
// without saying so (stos, syscall), by leaving for other code. Assembler of nothing but plain
// instructions writes its operands in memory, and nothing else. Whatever is not known here may
// write anything.
#pragma once

#include "llvm/IR/InlineAsm.h"

namespace nvmove::plugin {

/// True for assembler without an instruction.
bool isEmptyAssembly(const llvm::InlineAsm &Code);

/// True unless \p Code surely writes through no register.
bool mayFormAddress(const llvm::InlineAsm &Code);

} // namespace nvmove::plugin
