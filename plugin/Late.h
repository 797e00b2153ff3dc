// The late phase, last in the optimisation pipeline: notes before writes, and all that goes with
// them.
//
// It also runs when objects for link-time optimisation are made (before they are linked); a module
// flag keeps every later run, by whichever pipeline, from instrumenting again.
#pragma once

#include "base/UnsafeFile.h"

#include "llvm/IR/PassManager.h"

namespace nvmove::plugin {

class LatePass : public llvm::PassInfoMixin<LatePass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &AM);
  static bool isRequired() { return true; }
};

/// The .unsafe files, for the one phase of a module that needs them.
UnsafeTable takeUnsafeFiles(llvm::Module &M);

} // namespace nvmove::plugin
