// The early phase, at the start of the optimisation pipeline: what must be decided before anything
// is inlined or moved.
//
// Functions that are one transaction each (`nvmove.atomic`), commit points (`nvmove.commit`) and
// split points (`nvmove.split`) get opaque calls at their edges and are never inlined: done late,
// -O2 would turn a loop that calls an atomic function into one store and the boundaries would be
// gone. Accesses of fields annotated `nvmove.volatile` are marked with metadata that every pass may
// drop (a lost mark only adds a note), and the marks of the front end are taken away, as they
// hinder the optimizer. The marker call behind NVM_TYPE_ID becomes the number that the front-end
// half put into it.
#pragma once

#include "llvm/IR/PassManager.h"

namespace nvmove::plugin {

class EarlyPass : public llvm::PassInfoMixin<EarlyPass> {
public:
  llvm::PreservedAnalyses run(llvm::Module &M, llvm::ModuleAnalysisManager &);
  static bool isRequired() { return true; }
};

/// Name of the module flag of modules that went through the late phase.
inline constexpr const char *InstrumentedFlag = "nvmove.instrumented";

} // namespace nvmove::plugin
