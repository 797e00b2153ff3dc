// What libnvmove knows static data by, when a pointer to it is found again after a rebuild
// (runtime/symbols/symbols.h).
#pragma once

#include "llvm/IR/Module.h"

namespace nvmove::plugin {

/// Constants of the source that have no symbol: plain strings go into a section of their own, which
/// says that they are; all others get a name made of their content. Once, before anything else
/// makes constants.
bool nameConstants(llvm::Module &M);

/// Names of static functions and data in objects for link-time optimisation. The linker makes one
/// module of many, in which namesakes are numbered and nothing says where they came from. So each
/// gets its source file into its name, as NVM_STATIC_IN (abi_statics.h) has it; machine code that
/// is made at once has it in its symbol table. Leaves names that assembler may know (attribute
/// `used`, own asm names). No-op without LTO.
void nameStatics(llvm::Module &M);

} // namespace nvmove::plugin
