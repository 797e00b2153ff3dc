// Stores told of: see Trace.h.
#include "trace/Trace.h"

#include "emit/Abi.h"
#include "emit/Sites.h"
#include "ir/Notes.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// In the table below: no argument is a descriptor; only the function itself knows whether something
/// leaves.
enum { NVM_NOWHERE = -1, NVM_SOMETIMES = -2 };

/// A function through which something leaves the process, and its argument that is a descriptor.
struct Output {
  StringRef Name;
  int Descriptor;
};

const Output Outputs[] = {
#define NVM_OUTPUT(name, where) {#name, where},
#include "nvmove/outputs.def"
#undef NVM_OUTPUT
};

constexpr int Stdout = -1;

/// A function of stdio that may write its stream's buffer, and its argument that is the stream.
struct Print {
  StringRef Name;
  int Stream;
  bool Empties = false; ///< it does write it
};

const Print Prints[] = {
    {"_IO_putc", 1},
    {"__fprintf_chk", 0},
    {"__fwprintf_chk", 0},
    {"__overflow", 0}, // of putc_unlocked and its kin, which are inline
    {"__printf_chk", Stdout},
    {"__vfprintf_chk", 0},
    {"__vfwprintf_chk", 0},
    {"__vprintf_chk", Stdout},
    {"__vwprintf_chk", Stdout},
    {"__woverflow", 0},
    {"__wprintf_chk", Stdout},
    {"fflush", 0, true},
    {"fflush_unlocked", 0, true},
    {"fprintf", 0},
    {"fputc", 1},
    {"fputc_unlocked", 1},
    {"fputs", 1},
    {"fputs_unlocked", 1},
    {"fputwc", 1},
    {"fputwc_unlocked", 1},
    {"fputws", 1},
    {"fputws_unlocked", 1},
    {"fwprintf", 0},
    {"fwrite", 3},
    {"fwrite_unlocked", 3},
    {"printf", Stdout},
    {"putc", 1},
    {"putc_unlocked", 1},
    {"putchar", Stdout},
    {"putchar_unlocked", Stdout},
    {"puts", Stdout},
    {"putw", 1},
    {"putwc", 1},
    {"putwc_unlocked", 1},
    {"putwchar", Stdout},
    {"putwchar_unlocked", Stdout},
    {"vfprintf", 0},
    {"vfwprintf", 0},
    {"vprintf", Stdout},
    {"vwprintf", Stdout},
    {"wprintf", Stdout},
};

/// Functions that write lines or pages back, which commits do anyhow; their first argument says
/// where.
const StringRef Flushes[] = {
    "llvm.x86.clflushopt", "llvm.x86.clwb", "llvm.x86.sse2.clflush", "msync", "pmem_deep_persist",
    "pmem_flush",          "pmem_msync",    "pmem_persist",
};

/// Functions through which a thread lets go of a lock (the waits on a condition do, too), begins or
/// commits a transaction, frees a block, or stores (nvmove/wrap.h): the runtime wants to know where.
const StringRef Placed[] = {
    "__nvm_atomic_enter",
    "__nvm_atomic_leave",
    "__nvm_atomic_passed",
    "__nvm_commit_point",
    "__nvm_split_point",
    "cnd_timedwait",
    "cnd_wait",
    "free",
    "mtx_unlock",
    "nvm_free",
    "nvm_realloc",
    "nvm_tx_abort",
    "nvm_tx_begin",
    "nvm_tx_commit",
    "nvm_wrap_close",
    "nvm_wrap_open",
    "nvm_wrap_store64",
    "nvm_wrap_write",
    "pthread_cond_clockwait",
    "pthread_cond_timedwait",
    "pthread_cond_wait",
    "pthread_mutex_unlock",
    "pthread_rwlock_unlock",
    "pthread_spin_unlock",
    "realloc",
    "reallocarray",
    "sem_post",
};

template <class T> const T *findIn(ArrayRef<T> Table, StringRef Name) {
  auto *Found = find_if(Table, [&](const T &Row) { return Row.Name == Name; });
  return Found == Table.end() ? nullptr : Found;
}

/// Its argument \p Number is `stderr`: what goes there is for people.
bool isForPeople(const CallBase &Call, int Number) {
  if (Number < 0 || Number >= int(Call.arg_size()))
    return false;
  auto *Load = dyn_cast<LoadInst>(Call.getArgOperand(unsigned(Number)));
  return Load && Load->getPointerOperand()->getName() == "stderr";
}

/// Behind a call of which something was said before it.
void traceEnd(CallBase &Call) {
  if (Call.isTerminator() || Call.isMustTailCall())
    return;
  IRBuilder<> At(Call.getNextNode());
  callAbi(At, "__nvm_trace_at", {ConstantPointerNull::get(At.getPtrTy())});
}

void traceOutput(CallBase &Call, const Output &O) {
  IRBuilder<> At(&Call);
  if (O.Descriptor >= int(Call.arg_size()) || isForPeople(Call, 0))
    return;
  Value *Number = O.Descriptor < 0 ? ConstantInt::getSigned(At.getInt32Ty(), O.Descriptor)
                                   : Call.getArgOperand(unsigned(O.Descriptor));
  if (!Number->getType()->isIntegerTy(32))
    return;
  callAbi(At, "__nvm_trace_output", {Number, makeSite(At, Call)});
  traceEnd(Call);
}

void tracePrint(CallBase &Call, const Print &P) {
  if (P.Stream >= int(Call.arg_size()) || Call.isTerminator() ||
      (P.Empties && isForPeople(Call, P.Stream)))
    return;
  IRBuilder<> At(Call.getNextNode());
  At.SetCurrentDebugLocation(Call.getDebugLoc());
  Value *Stream = P.Stream >= 0
                      ? Call.getArgOperand(unsigned(P.Stream))
                      : At.CreateLoad(At.getPtrTy(),
                                      Call.getModule()->getOrInsertGlobal("stdout", At.getPtrTy()));
  if (Stream->getType()->isPointerTy())
    callAbi(At, P.Empties ? "__nvm_trace_flushed" : "__nvm_trace_printed",
            {Stream, makeSite(At, Call)});
}

/// Whether code that nothing instruments may run in it, and store through its arguments.
bool mayStoreUnseen(const CallBase &Call) {
  const Function *Callee = Call.getCalledFunction();
  if (Call.isTerminator() || Call.isMustTailCall() || Call.onlyReadsMemory())
    return false;
  return !Callee || (Callee->isDeclaration() && !Callee->isIntrinsic() && !isAbiFunction(*Callee) &&
                     !Callee->getName().starts_with("nvm_"));
}

void traceArguments(CallBase &Call) {
  forEachStoredUnseen(Call, [&](Value *Argument) {
    IRBuilder<> At(behindIfInRange(Call, Argument));
    callAbi(At, "__nvm_trace_call", {Argument, makeSite(At, Call)});
  });
}

void traceFlush(CallBase &Call) {
  IRBuilder<> At(&Call);
  Value *Persistent = inRange(At, Call.getArgOperand(0));
  At.SetInsertPoint(unlikelyBlock(Persistent, &Call));
  At.SetCurrentDebugLocation(Call.getDebugLoc());
  callAbi(At, "__nvm_trace_flush", {Call.getArgOperand(0), makeSite(At, Call)});
}

void tracePlace(CallBase &Call) {
  IRBuilder<> At(&Call);
  callAbi(At, "__nvm_trace_at", {makeSite(At, Call)});
  traceEnd(Call);
}

} // namespace

void forEachStoredUnseen(CallBase &Call, function_ref<void(Value *)> Take) {
  if (!mayStoreUnseen(Call))
    return;
  SmallPtrSet<Value *, 8> Told;
  for (unsigned N = 0; N < Call.arg_size(); ++N) {
    Value *Argument = Call.getArgOperand(N);
    if (Argument->getType()->isPointerTy() && !isa<Constant>(Argument) &&
        !isa<AllocaInst>(getUnderlyingObject(Argument)) && !Call.onlyReadsMemory(N) &&
        Told.insert(Argument).second)
      Take(Argument);
  }
}

bool isOutput(const CallBase &Call) {
  StringRef Callee = libraryCallee(Call);
  const Output *O = findIn(ArrayRef(Outputs), Callee);
  return (O && O->Descriptor != NVM_SOMETIMES) || findIn(ArrayRef(Prints), Callee);
}

bool printsErrors(const CallBase &Call) {
  const Print *P = findIn(ArrayRef(Prints), libraryCallee(Call));
  return P && isForPeople(Call, P->Stream);
}

Value *outputDescriptor(const CallBase &Call) {
  const Output *O = findIn(ArrayRef(Outputs), libraryCallee(Call));
  if (!O || O->Descriptor < 0 || static_cast<unsigned>(O->Descriptor) >= Call.arg_size())
    return nullptr;
  Value *Descriptor = Call.getArgOperand(static_cast<unsigned>(O->Descriptor));
  return Descriptor->getType()->isIntegerTy(32) ? Descriptor : nullptr;
}

void traceCalls(Function &F) {
  SmallVector<CallBase *> Calls;
  F.addFnAttr("frame-pointer", "all"); // the runtime follows them to the callers
  for (Instruction &I : instructions(F))
    if (auto *Call = dyn_cast<CallBase>(&I))
      Calls.push_back(Call);
  for (CallBase *Call : Calls) {
    const Function *Callee = Call->getCalledFunction();
    traceArguments(*Call);
    if (!Callee || !Callee->isDeclaration())
      continue;
    if (const Output *O = findIn(ArrayRef(Outputs), Callee->getName()))
      traceOutput(*Call, *O);
    if (const Print *P = findIn(ArrayRef(Prints), Callee->getName()))
      tracePrint(*Call, *P);
    if (is_contained(Flushes, Callee->getName()) && !Call->arg_empty() &&
        Call->getArgOperand(0)->getType()->isPointerTy())
      traceFlush(*Call);
    if (is_contained(Placed, Callee->getName()))
      tracePlace(*Call);
  }
}

void traceStores(Function &F, ArrayRef<Access> Writes) {
  for (const Access &W : Writes) {
    if (W.Mask || !W.Address || W.Address->getType()->isVectorTy() || W.At->isTerminator())
      continue;
    IRBuilder<> At(behindIfInRange(*W.At, W.Address));
    Value *Size = W.Size ? At.getInt64(W.Size) : At.CreateZExtOrTrunc(W.Length, At.getInt64Ty());
    Constant *Site = makeSite(At, *W.At);
    callAbi(At, "__nvm_trace_store", {W.Address, Size, Site});
    auto *Store = dyn_cast<StoreInst>(W.At);
    if (Store && Store->getValueOperand()->getType()->isPointerTy())
      callAbi(At, "__nvm_trace_pointer", {W.Address, Store->getValueOperand(), Site});
  }
}

} // namespace nvmove::plugin
