// Stores told of: see Trace.h.
#include "Trace.h"

#include "Abi.h"
#include "Notes.h"
#include "Sites.h"

using namespace llvm;

namespace nvmove::plugin {

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
