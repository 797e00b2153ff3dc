// Registration with clang: see Plugin.h.
#include "Plugin.h"

#include "Early.h"
#include "FrontendAction.h"
#include "Late.h"
#include "ir/NoAlias.h"

#include "clang/Frontend/FrontendPluginRegistry.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/TargetParser/Triple.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// Refuses what libnvmove does not run on, before anything else.
class TargetPass : public PassInfoMixin<TargetPass> {
public:
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &) {
    Triple Target(M.getTargetTriple());
    if (Target.getArch() == Triple::x86_64 && Target.isOSLinux() && !Target.isX32())
      return PreservedAnalyses::all();
    M.getContext().emitError("nvmove: target '" + Target.str() +
                             "' is not supported, only x86-64 Linux is; NVMOVE_DISABLE=1 makes "
                             "this plain clang");
    M.addModuleFlag(Module::Max, InstrumentedFlag, 1); // so that the phases leave it alone
    return PreservedAnalyses::none();
  }
  static bool isRequired() { return true; }
};

} // namespace

PassPluginLibraryInfo passPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "nvmove", LLVM_VERSION_STRING, [](PassBuilder &Builder) {
            Builder.registerPipelineStartEPCallback(
                [](ModulePassManager &Passes, OptimizationLevel) {
                  Passes.addPass(TargetPass());
                  Passes.addPass(EarlyPass());
                });
            Builder.registerPipelineEarlySimplificationEPCallback(
                [](ModulePassManager &Passes, OptimizationLevel) { Passes.addPass(SharePass()); });
            Builder.registerOptimizerLastEPCallback(
                [](ModulePassManager &Passes, OptimizationLevel) { Passes.addPass(LatePass()); });
          }};
}

static clang::FrontendPluginRegistry::Add<SourceAction> Registered("nvmove",
                                                                   "notes persistent writes");

} // namespace nvmove::plugin

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT PassPluginLibraryInfo llvmGetPassPluginInfo() {
  return nvmove::plugin::passPluginInfo();
}
