// A program that makes its data persistent by itself, told of: see RawTrace.h.
#include "trace/RawTrace.h"

#include "base/Advice.h"
#include "emit/Abi.h"
#include "emit/Sites.h"
#include "ir/Access.h"
#include "ir/AssemblerText.h"
#include "ir/Origin.h"
#include "trace/Trace.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// Calls of which the runtime wants to know the place: it sees by itself what they do.
bool placesFiles(const CallBase &Call) {
  const Function *Callee = namedCallee(Call);
  if (!Callee)
    return !Call.isInlineAsm(); // perhaps one that libpmem2 gave
  static const StringRef Names[] = {"fdatasync", "fsync", "ftruncate", "mmap", "mmap64",
                                    "mremap",    "msync", "munmap",    "sync", "syncfs"};
  return Callee->isDeclaration() &&
         (is_contained(Names, Callee->getName()) || Callee->getName().starts_with("pmem"));
}

class RawTracer {
public:
  RawTracer(Function &F, const TargetLibraryInfo &Library) : F(F), Library(Library) {}

  void run() {
    F.addFnAttr("frame-pointer", "all"); // the runtime follows them to the callers
    SmallVector<Instruction *> All;
    for (Instruction &I : instructions(F))
      All.push_back(&I);
    SmallVector<Access> Accesses = enumerateAccesses(F, [](const CallBase &) { return false; });
    for (const Access &A : Accesses)
      if (A.Writes && A.Kind != AccessKind::Assembly && A.Kind != AccessKind::Precompiled)
        traceWrite(A);
    for (Instruction *I : All)
      traceOther(*I);
  }

private:
  /// Where what \p I did is told: behind it, and behind what was told of it before.
  IRBuilder<> &behind(Instruction &I) {
    auto [Known, IsNew] = Last.insert({&I, nullptr});
    At.SetInsertPoint(IsNew ? I.getNextNode() : Known->second->getNextNode());
    At.SetCurrentDebugLocation(I.getDebugLoc());
    return At;
  }

  void tell(Instruction &I, StringRef Name, ArrayRef<Value *> Arguments) {
    SmallVector<Value *> All(Arguments);
    All.push_back(makeSite(At, I));
    Last[&I] = callAbi(At, Name, All);
  }

  /// A file may be mapped over a variable as well.
  bool mayBeMapped(Value *Address) const {
    return originOf(Address, F, Library, /*GlobalsMayPersist=*/true) == Origin::MayPersist;
  }

  void traceWrite(const Access &A) {
    if (!A.Address || A.At->isTerminator() || isMustTail(*A.At))
      return;
    if (A.Address->getType()->isVectorTy())
      return traceLanes(A);
    if (!mayBeMapped(A.Address))
      return;
    IRBuilder<> &At = behind(*A.At);
    if (!A.Size && !A.Length)
      return tell(*A.At, "__nvm_raw_call", {A.Address}); // so many bytes as it finds changed
    Value *Size = A.Size ? At.getInt64(A.Size) : At.CreateZExtOrTrunc(A.Length, At.getInt64Ty());
    bool Streams = A.At->hasMetadata(LLVMContext::MD_nontemporal);
    tell(*A.At, Streams ? "__nvm_raw_stream" : "__nvm_raw_store", {A.Address, Size});
  }

  /// All of them, whatever the mask: the runtime looks at what has changed.
  void traceLanes(const Access &A) {
    auto *Lanes = dyn_cast<FixedVectorType>(A.Address->getType());
    for (unsigned N = 0; Lanes && N < Lanes->getNumElements(); ++N) {
      IRBuilder<> &At = behind(*A.At);
      Value *Lane = At.CreateExtractElement(A.Address, N);
      tell(*A.At, "__nvm_raw_store", {Lane, At.getInt64(A.Size / Lanes->getNumElements())});
    }
  }

  void traceOther(Instruction &I) {
    auto *Call = dyn_cast<CallBase>(&I);
    if (isLocked(I))
      tellFenceBefore(I);
    if (isLocked(I) || isFence(I))
      tellFence(I);
    if (!Call)
      return;
    if (placesFiles(*Call))
      tellPlace(*Call);
    if (Call->isTerminator() || isMustTail(I))
      return;
    if (Call->isInlineAsm())
      traceAssembler(*Call);
    else if (auto *Intrinsic = dyn_cast<IntrinsicInst>(Call))
      traceFlush(*Intrinsic);
    else
      traceCall(*Call);
  }

  static bool isMustTail(const Instruction &I) {
    auto *Call = dyn_cast<CallInst>(&I);
    return Call && Call->isMustTailCall();
  }

  /// What x86 makes an instruction with a lock prefix of, xchg among them: a fence before its own
  /// store, and behind it.
  static bool isLocked(const Instruction &I) {
    if (auto *Store = dyn_cast<StoreInst>(&I))
      return Store->getOrdering() == AtomicOrdering::SequentiallyConsistent;
    return isa<AtomicRMWInst, AtomicCmpXchgInst>(I);
  }

  static bool isFence(const Instruction &I) {
    if (auto *Fence = dyn_cast<FenceInst>(&I))
      return Fence->getOrdering() == AtomicOrdering::SequentiallyConsistent &&
             Fence->getSyncScopeID() == SyncScope::System;
    if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
      return Intrinsic->getIntrinsicID() == Intrinsic::x86_sse_sfence ||
             Intrinsic->getIntrinsicID() == Intrinsic::x86_sse2_mfence;
    return false;
  }

  static void tellFenceBefore(Instruction &I) {
    IRBuilder<> Before(&I);
    callAbi(Before, "__nvm_raw_fence", {makeSite(Before, I)});
  }

  void tellFence(Instruction &I) {
    behind(I);
    tell(I, "__nvm_raw_fence", {});
  }

  void tellFlush(CallBase &Call, Value *Address, bool AtOnce) {
    IRBuilder<> &At = behind(Call);
    if (Address->getType()->isIntegerTy())
      Address = At.CreateIntToPtr(Address, At.getPtrTy());
    if (!Address->getType()->isPointerTy() || !mayBeMapped(Address))
      return;
    tell(Call, "__nvm_raw_flush", {Address, At.getInt32(AtOnce)});
  }

  void traceFlush(IntrinsicInst &I) {
    switch (I.getIntrinsicID()) {
    case Intrinsic::x86_sse2_clflush:
      return tellFlush(I, I.getArgOperand(0), /*AtOnce=*/true);
    case Intrinsic::x86_clflushopt:
    case Intrinsic::x86_clwb:
      return tellFlush(I, I.getArgOperand(0), /*AtOnce=*/false);
    default:
      return;
    }
  }

  /// The arguments of inline assembler by the numbers of its operands; null: one in a register that
  /// is written only. And those that lie in a register by its number in the machine's code.
  struct Operands {
    SmallVector<Value *> Numbered;
    Value *InRegister[8] = {};
  };

  static Operands operandsOf(const CallBase &Call) {
    static const StringRef Registers[] = {"{ax}", "{cx}", "{dx}", "{bx}", "", "", "{si}", "{di}"};
    Operands Found;
    unsigned N = 0;
    for (const auto &C : cast<InlineAsm>(Call.getCalledOperand())->ParseConstraints()) {
      if (C.Type == InlineAsm::isClobber || C.Type == InlineAsm::isLabel)
        continue;
      Found.Numbered.push_back(C.hasArg() ? Call.getArgOperand(N++) : nullptr);
      for (unsigned R = 0; R < 8 && !C.Codes.empty(); ++R)
        if (C.hasArg() && C.Codes[0] == Registers[R])
          Found.InRegister[R] = Found.Numbered.back();
    }
    return Found;
  }

  static Value *addressOf(const AssemblerStep &S, const Operands &All) {
    if (S.Register >= 0)
      return All.InRegister[S.Register];
    return S.Operand >= 0 && S.Operand < int(All.Numbered.size()) ? All.Numbered[S.Operand]
                                                                  : nullptr;
  }

  void traceAssembler(CallBase &Call) {
    auto *Code = cast<InlineAsm>(Call.getCalledOperand());
    SmallVector<AssemblerStep> Steps = readAssembler(Code->getAsmString());
    auto Has = [&](AssemblerKind Kind) {
      return any_of(Steps, [=](const AssemblerStep &S) { return S.Kind == Kind; });
    };
    bool Streams = Has(AssemblerKind::Stream);
    if (!Has(AssemblerKind::Flush) && !Has(AssemblerKind::FlushAtOnce)) {
      if (!Steps.empty() && Steps[0].IsFirst)
        tellFenceBefore(Call); // of a lock prefix, say: before the store
      traceAssembled(Call, Streams);
      if (Streams && Steps.back().Kind != AssemblerKind::Fence)
        return;
    }
    Operands All = operandsOf(Call);
    for (const AssemblerStep &S : Steps) {
      if (S.Kind == AssemblerKind::Fence)
        tellFence(Call);
      else if (S.Kind == AssemblerKind::Stream)
        continue;
      else if (Value *Address = addressOf(S, All))
        tellFlush(Call, Address, S.Kind == AssemblerKind::FlushAtOnce);
      else
        advise(F, Call.getDebugLoc(),
               "this flush is not traced: its address is not an operand of the assembler");
    }
  }

  /// Its outputs in memory, and what lies around the other addresses that it is given.
  void traceAssembled(CallBase &Call, bool Streams) {
    for (unsigned N = 0; N < Call.arg_size(); ++N) {
      Value *Argument = Call.getArgOperand(N);
      if (!Argument->getType()->isPointerTy() || isa<Constant>(Argument) || !mayBeMapped(Argument))
        continue;
      IRBuilder<> &At = behind(Call);
      if (Type *Element = Call.getParamElementType(N); Element && Element->isSized())
        tell(Call, Streams ? "__nvm_raw_stream" : "__nvm_raw_store",
             {Argument, At.getInt64(F.getDataLayout().getTypeStoreSize(Element))});
      else
        tell(Call, "__nvm_raw_call", {Argument});
    }
  }

  void traceCall(CallBase &Call) {
    forEachStoredUnseen(Call, [&](Value *Argument) {
      behind(Call);
      tell(Call, "__nvm_raw_call", {Argument});
    });
    if (isOutput(Call)) {
      behind(Call);
      tell(Call, "__nvm_raw_output", {});
    }
  }

  void tellPlace(CallBase &Call) {
    IRBuilder<> Before(&Call);
    callAbi(Before, "__nvm_raw_at", {makeSite(Before, Call)});
  }

  Function &F;
  const TargetLibraryInfo &Library;
  IRBuilder<> At{F.getContext()};
  DenseMap<Instruction *, Instruction *> Last;
};

} // namespace

void traceRaw(Function &F, const TargetLibraryInfo &Library) { RawTracer(F, Library).run(); }

void enableRawTrace(Module &M) {
  constexpr StringRef Name = "__nvmove_raw_enable";
  LLVMContext &C = M.getContext();
  auto *Made = Function::Create(FunctionType::get(Type::getVoidTy(C), false),
                                GlobalValue::LinkOnceODRLinkage, Name, M);
  Made->setVisibility(GlobalValue::HiddenVisibility);
  Made->setComdat(M.getOrInsertComdat(Name));
  IRBuilder<> In(BasicBlock::Create(C, "", Made));
  callAbi(In, "__nvm_raw_enable", {});
  In.CreateRetVoid();
  appendToGlobalCtors(M, Made, /*Priority=*/0, Made);
}

} // namespace nvmove::plugin
