// The late phase over a module: see Late.h.
#include "Late.h"

#include "Early.h"
#include "Instrument.h"
#include "base/Frontend.h"
#include "base/Settings.h"
#include "base/UnsafeFile.h"
#include "emit/Abi.h"
#include "emit/LayoutSection.h"
#include "emit/SourceNames.h"
#include "emit/StaticNames.h"
#include "emulation/Emulate.h"
#include "ir/Landings.h"
#include "ir/VirtualCalls.h"
#include "trace/RawTrace.h"
#include "unsafe/UnknownCalls.h"
#include "unsafe/Wrappers.h"

#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// What the optimizer inferred about a body held before notes were in it: a note writes memory, and keeps the address.
void forgetInferred(Function &F) {
  F.setMemoryEffects(MemoryEffects::unknown());
  F.removeFnAttr(Attribute::NoSync);
  F.removeFnAttr(Attribute::Speculatable);
  for (unsigned N = 0; N < F.arg_size(); ++N)
    for (Attribute::AttrKind Kind :
         {Attribute::ReadOnly, Attribute::ReadNone, Attribute::WriteOnly, Attribute::NoCapture})
      F.removeParamAttr(N, Kind);
}

/// Forgets it for \p Changed, their direct callers, and so on, and at the calls between them.
void forgetInferredAround(ArrayRef<Function *> Changed) {
  SmallVector<Function *> Work(Changed);
  SmallPtrSet<Function *, 32> Seen(Changed.begin(), Changed.end());
  while (!Work.empty()) {
    Function *F = Work.pop_back_val();
    forgetInferred(*F);
    for (User *U : F->users()) {
      auto *Call = dyn_cast<CallBase>(U);
      if (!Call || Call->getCalledFunction() != F)
        continue;
      Call->removeFnAttr(Attribute::Memory);
      if (Seen.insert(Call->getFunction()).second)
        Work.push_back(Call->getFunction());
    }
  }
}

/// A naked function is assembler that finds its arguments by itself: nothing can be placed in it.
void warnOfNaked(Function &F, Report &R) {
  if (none_of(F.args(), [](const Argument &A) { return A.getType()->isPointerTy(); }))
    return;
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I); Call && Call->isInlineAsm())
      return R.warn(I, "inline assembler may write persistent memory that nothing logs");
}

SmallVector<Function *> instrumentFunctions(Module &M, FunctionAnalysisManager &Analyses,
                                            const UnsafeTable &Unsafe, LoadsMade &Loads,
                                            Report &R) {
  Commits MayCommit(M, Unsafe);
  SmallVector<Function *> Bodies, Changed;
  for (Function &F : M)
    if (!F.isDeclaration())
      Bodies.push_back(&F);
  for (Function *F : Bodies) {
    if (F->hasFnAttribute(Attribute::Naked)) {
      warnOfNaked(*F, R);
      continue;
    }
    auto Frequency = [&]() -> BlockFrequencyInfo & {
      return Analyses.getResult<BlockFrequencyAnalysis>(*F);
    };
    FunctionAnalyses Known{Analyses.getResult<TargetLibraryAnalysis>(*F),
                           {Analyses.getResult<LoopAnalysis>(*F),
                            Analyses.getResult<ScalarEvolutionAnalysis>(*F),
                            Analyses.getResult<DominatorTreeAnalysis>(*F)},
                           Analyses.getResult<OptimizationRemarkEmitterAnalysis>(*F),
                           Frequency};
    bool Noted = instrumentFunction(*F, Unsafe, MayCommit, Known, Loads, R);
    if (placeLandings(*F) || Noted) {
      Changed.push_back(F);
      Analyses.invalidate(*F, PreservedAnalyses::none());
    }
  }
  return Changed;
}

void traceFunctions(Module &M, ModuleAnalysisManager &AM) {
  auto &Analyses = AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  SmallVector<Function *> Bodies;
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasFnAttribute(Attribute::Naked))
      Bodies.push_back(&F);
  for (Function *F : Bodies)
    traceRaw(*F, Analyses.getResult<TargetLibraryAnalysis>(*F));
  forgetInferredAround(Bodies);
  emitTypeLayouts(M);
  nameUntraced(M, true);
  enableRawTrace(M);
  assert(!verifyModule(M, &errs()) && "the late phase made invalid IR");
}

} // namespace

UnsafeTable takeUnsafeFiles(Module &M) {
  if (std::optional<UnsafeTable> Read = std::exchange(frontendFacts().Unsafe, std::nullopt))
    return std::move(*Read);
  UnsafeTable Table; // there was no front end, or this is not its first module
  for (const std::string &Path : settings().UnsafeFiles)
    if (Error E = Table.addFile(Path))
      M.getContext().emitError(toString(std::move(E)));
  return Table;
}

PreservedAnalyses LatePass::run(Module &M, ModuleAnalysisManager &AM) {
  if (M.getModuleFlag(InstrumentedFlag))
    return PreservedAnalyses::all();
  M.addModuleFlag(Module::Max, InstrumentedFlag, 1);
  if (settings().Emulates) {
    finishEmulated(M);
    return PreservedAnalyses::none();
  }
  if (settings().Raw) {
    traceFunctions(M, AM);
    return PreservedAnalyses::none();
  }
  UnsafeTable Unsafe = takeUnsafeFiles(M);
  declareVirtual(M);
  Report R(M);
  auto &Analyses = AM.getResult<FunctionAnalysisManagerModuleProxy>(M).getManager();
  LoadsMade Loads;
  SmallVector<Function *> Changed = instrumentFunctions(M, Analyses, Unsafe, Loads, R);
  forgetInferredAround(Changed);
  warnOfTakenAddresses(M, Unsafe, R);
  wrapTakenAddresses(M, Unsafe, R);
  if (settings().Redirect)
    markRedirected(M);
  emitTypeLayouts(M);
  nameStatics(M);
  nameUntraced(M, !Changed.empty());
  nameAccesses(M);
  if (!Changed.empty())
    referenceAbiVersion(M);
  if (settings().Remarks) {
    R.summary(errs());
    if (settings().Loads == Settings::Accesses::Optimized)
      Loads.Announced.summary(M, errs());
    if (settings().Redirect)
      Loads.Redirected.summary(M, errs());
  }
  assert(!verifyModule(M, &errs()) && "the late phase made invalid IR");
  return PreservedAnalyses::none();
}

} // namespace nvmove::plugin
