// The functions and variables of include/nvmove/abi.def as declarations in the module at hand.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

namespace nvmove::plugin {

/// Whether abi.def lists a function of that name.
bool isAbiName(llvm::StringRef Name);

/// A declaration of the ABI function \p Name, which abi.def must list.
llvm::FunctionCallee abiFunction(llvm::Module &M, llvm::StringRef Name);

/// Calls it at \p At with the calling convention that abi.def gives it.
llvm::CallInst *callAbi(llvm::IRBuilderBase &At, llvm::StringRef Name,
                        llvm::ArrayRef<llvm::Value *> Arguments);

/// The address of this thread's line table (struct nvm_line_table).
llvm::Value *lineTable(llvm::IRBuilderBase &At);

/// Makes the module need the runtime of this ABI version: a mismatch fails at link.
void referenceAbiVersion(llvm::Module &M);

/// True for a function of this ABI, whatever module declared it.
bool isAbiFunction(const llvm::Function &F);

/// The address of the frame of the function in which \p At stands.
llvm::Value *frameAddress(llvm::IRBuilderBase &At);

} // namespace nvmove::plugin
