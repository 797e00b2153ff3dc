// What the optimizer must not believe: that a call cannot reach the memory behind a pointer.
//
// A commit reads pool memory, an abort writes it, and both are calls without arguments. LLVM takes a call for one
// that can do neither where a pointer is `noalias`: it keeps the values in registers over the call, or moves
// stores behind it, into the next transaction. A pointer is `noalias` in two ways:
//   * an argument that is declared `restrict`, and in C++ the place of a result (`sret`), which may lie in a block;
//   * the result of a function that is declared `malloc`, of `operator new`, and of what LLVM knows by its name,
//     such as realloc. These may give memory of a pool; only what Origin.h knows as volatile cannot.
#pragma once

#include "llvm/IR/PassManager.h"

namespace nvmove::plugin {

/// Takes the attribute from the arguments of functions that may commit, and of calls, before anything is inlined.
bool shareRestricted(llvm::Module &M);

/// Takes it from results. Behind the inference of what library functions are known for, and before the first pass
/// that relies on it.
class SharePass : public llvm::PassInfoMixin<SharePass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &Analyses);
  static bool isRequired() { return true; }
};

} // namespace nvmove::plugin
