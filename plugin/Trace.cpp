// Stores told of: see Trace.h.
#include "Trace.h"

#include "Abi.h"
#include "Notes.h"
#include "Sites.h"

#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

constexpr int NoDescriptor = -1;

/// A function through which something leaves the process, and its argument that is a descriptor.
struct Output {
  StringRef Name;
  int Descriptor;
};

const Output Outputs[] = {
    {"fdatasync", 0},
    {"fflush", NoDescriptor},
    {"fsync", 0},
    {"pwrite", 0},
    {"pwrite64", 0},
    {"rename", NoDescriptor},
    {"renameat", NoDescriptor},
    {"send", 0},
    {"sendfile", 0},
    {"sendmsg", 0},
    {"sendto", 0},
    {"write", 0},
    {"writev", 0},
};

/// fflush(stderr): what goes there is for people.
bool isForPeople(const CallBase &Call) {
  if (Call.arg_empty())
    return false;
  auto *Load = dyn_cast<LoadInst>(Call.getArgOperand(0));
  return Load && Load->getPointerOperand()->getName() == "stderr";
}

} // namespace

void traceOutputs(Function &F) {
  SmallVector<std::pair<CallBase *, int>> Found;
  for (Instruction &I : instructions(F)) {
    auto *Call = dyn_cast<CallBase>(&I);
    const Function *Callee = Call ? Call->getCalledFunction() : nullptr;
    if (!Callee || !Callee->isDeclaration() || isForPeople(*Call))
      continue;
    for (const Output &O : Outputs)
      if (Callee->getName() == O.Name && (O.Descriptor < 0 || Call->arg_size() > 0))
        Found.push_back({Call, O.Descriptor});
  }
  for (auto [Call, Descriptor] : Found) {
    IRBuilder<> At(Call);
    Value *Number = Descriptor < 0 ? At.getInt32(-1) : Call->getArgOperand(unsigned(Descriptor));
    if (!Number->getType()->isIntegerTy(32))
      continue;
    callAbi(At, "__nvm_trace_output", {Number, makeSite(At, *Call)});
  }
}

void traceStores(Function &F, ArrayRef<Access> Writes) {
  for (const Access &W : Writes) {
    if (W.Mask || !W.Address || W.Address->getType()->isVectorTy() || W.At->isTerminator())
      continue;
    Instruction *Next = W.At->getNextNode();
    IRBuilder<> At(Next);
    At.SetCurrentDebugLocation(W.At->getDebugLoc());
    Value *Persistent = inRange(At, W.Address);
    At.SetInsertPoint(unlikelyBlock(Persistent, Next));
    At.SetCurrentDebugLocation(W.At->getDebugLoc());
    Value *Size = W.Size ? At.getInt64(W.Size) : At.CreateZExtOrTrunc(W.Length, At.getInt64Ty());
    callAbi(At, "__nvm_trace_store", {W.Address, Size, makeSite(At, *W.At)});
  }
}

} // namespace nvmove::plugin
