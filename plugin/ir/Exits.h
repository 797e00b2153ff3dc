// The entry of a function, and each place where control leaves it.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/IRBuilder.h"

namespace nvmove::plugin {

/// Behind the variables of \p F.
llvm::IRBuilder<> atEntry(llvm::Function &F);

/// Calls \p Place before each return of \p F. An error where a call there must be a tail call; \p What: the kind of
/// function, for its message.
void beforeReturns(llvm::Function &F, llvm::StringRef What,
                   llvm::function_ref<void(llvm::IRBuilder<> &)> Place);

/// Calls \p Place where an exception leaves \p F, or the end of its thread (pthread_exit, pthread_cancel), with the
/// struct _Unwind_Exception. Nowhere in C without -fexceptions, whose calls throw nothing.
void beforeUnwinding(llvm::Function &F,
                     llvm::function_ref<void(llvm::IRBuilder<> &, llvm::Value *)> Place);

/// Gives \p F a landing pad for exceptions that leave one of its \p Calls, which passes them on.
void stopExceptions(llvm::Function &F, llvm::ArrayRef<llvm::CallInst *> Calls);

} // namespace nvmove::plugin
