// Registration with clang: see Plugin.h.
#include "Plugin.h"

#include "Early.h"
#include "FrontendAction.h"
#include "Late.h"

#include "clang/Frontend/FrontendPluginRegistry.h"
#include "llvm/Passes/PassBuilder.h"

using namespace llvm;

namespace nvmove::plugin {

PassPluginLibraryInfo passPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "nvmove", LLVM_VERSION_STRING, [](PassBuilder &Builder) {
            Builder.registerPipelineStartEPCallback(
                [](ModulePassManager &Passes, OptimizationLevel) { Passes.addPass(EarlyPass()); });
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
