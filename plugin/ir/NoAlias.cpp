// Pointers that commit and abort may reach: see NoAlias.h.
#include "ir/NoAlias.h"

#include "base/Settings.h"
#include "ir/Origin.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

bool mayCommit(const Function &F) {
  return llvm::any_of(instructions(F), [](const Instruction &I) {
    return isa<CallBase>(I) && !isa<IntrinsicInst>(I);
  });
}

/// Clang puts the attribute at calls, too. A call of an allocator of volatile memory gets it again, as the function
/// loses it: another call of realloc may be one of pool memory.
bool shareResults(Function &F, const TargetLibraryInfo &Library) {
  bool Changed = false;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (!Call || !Call->hasRetAttr(Attribute::NoAlias))
      continue;
    if (isVolatileAllocator(*Call, Library))
      Call->addRetAttr(Attribute::NoAlias);
    else
      Call->removeRetAttr(Attribute::NoAlias);
    Changed = true;
  }
  return Changed;
}

} // namespace

bool shareRestricted(Module &M) {
  bool Changed = false;
  for (Function &F : M)
    for (Argument &A : F.args())
      if (A.hasNoAliasAttr() && mayCommit(F)) {
        A.removeAttr(Attribute::NoAlias);
        Changed = true;
      }
  return Changed;
}

PreservedAnalyses SharePass::run(Module &M, ModuleAnalysisManager &Analyses) {
  if (settings().Emulates) // no commits
    return PreservedAnalyses::all();
  auto &Functions = Analyses.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  bool Changed = false;
  for (Function &F : M)
    if (!F.isDeclaration())
      Changed |= shareResults(F, Functions.getResult<TargetLibraryAnalysis>(F));
  for (Function &F : M)
    if (F.returnDoesNotAlias()) {
      F.removeRetAttr(Attribute::NoAlias);
      Changed = true;
    }
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

} // namespace nvmove::plugin
