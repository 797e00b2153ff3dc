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

/// Where the callee is inlined, its call says as much as the callee does: clang writes there that nobody else knows the
/// place of a result (`sret`).
bool shareArguments(CallBase &Call) {
  bool Changed = false;
  for (unsigned N = 0; N < Call.arg_size(); ++N)
    if (Call.getAttributes().hasParamAttr(N, Attribute::NoAlias)) {
      Call.removeParamAttr(N, Attribute::NoAlias);
      Changed = true;
    }
  return Changed;
}

/// A tail call that has to be one passes its caller's attributes on.
bool hasTailCall(const Function &F) {
  return llvm::any_of(F,
                      [](const BasicBlock &Block) { return Block.getTerminatingMustTailCall(); });
}

bool isCalledOnly(const Function &F) {
  return !hasTailCall(F) && llvm::all_of(F.uses(), [&](const Use &U) {
    auto *Call = dyn_cast<CallBase>(U.getUser());
    return Call && Call->isCallee(&U) && Call->getFunctionType() == F.getFunctionType() &&
           !Call->isMustTailCall();
  });
}

/// At -O3 LLVM makes a `noalias` argument of the place of a result (ArgumentPromotion), where it sees all calls of a
/// function. With neither of the two attributes the place is an argument like others.
bool shareResultPlace(Function &F) {
  constexpr Attribute::AttrKind Kind = Attribute::StructRet;
  if (!F.hasLocalLinkage() || !F.hasStructRetAttr() || !mayCommit(F) || !isCalledOnly(F))
    return false;
  for (unsigned N = 0; N < F.arg_size(); ++N)
    F.removeParamAttr(N, Kind);
  for (User *U : F.users())
    for (unsigned N = 0; N < F.arg_size(); ++N)
      cast<CallBase>(U)->removeParamAttr(N, Kind);
  return true;
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
  for (Function &F : M) {
    for (Argument &A : F.args())
      if (A.hasNoAliasAttr() && mayCommit(F)) {
        A.removeAttr(Attribute::NoAlias);
        Changed = true;
      }
    for (Instruction &I : instructions(F))
      if (auto *Call = dyn_cast<CallBase>(&I); Call && !isa<IntrinsicInst>(I))
        Changed |= shareArguments(*Call);
    Changed |= shareResultPlace(F);
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
