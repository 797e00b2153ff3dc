// Loads and stores that are calls: see Redirect.h.
#include "loads/Redirect.h"

#include "base/Settings.h"
#include "emit/Abi.h"
#include "emit/Sites.h"
#include "ir/Assembly.h"
#include "ir/Notes.h"
#include "ir/Origin.h"
#include "ir/VirtualCalls.h"
#include "nvmove/abi.h"
#include "unsafe/UnknownCalls.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

constexpr uint64_t WordSize = 8;

/// The bytes of a value that is loaded or stored; 0: not a whole number of bytes that is known.
uint64_t bytesOf(Type *T, const DataLayout &DL) {
  TypeSize Bits = DL.getTypeSizeInBits(T);
  bool IsWhole = !Bits.isScalable() && Bits.getFixedValue() % 8 == 0;
  return IsWhole ? Bits.getFixedValue() / 8 : 0;
}

/// Values that are passed in a register as they are.
bool isWord(Type *T, const DataLayout &DL) {
  uint64_t Size = bytesOf(T, DL);
  bool IsPlain = T->isIntOrIntVectorTy() || T->isFPOrFPVectorTy() || T->isPtrOrPtrVectorTy();
  return IsPlain && Size && Size <= WordSize && Size == DL.getTypeStoreSize(T).getFixedValue();
}

Value *wordOf(IRBuilderBase &At, Value *V, const DataLayout &DL) {
  Type *T = V->getType(), *Number = At.getIntNTy(static_cast<unsigned>(DL.getTypeSizeInBits(T)));
  if (T->isPtrOrPtrVectorTy())
    V = At.CreatePtrToInt(V, DL.getIntPtrType(T));
  return At.CreateZExt(At.CreateBitCast(V, Number), At.getInt64Ty());
}

Value *fromWord(IRBuilderBase &At, Value *Word, Type *T, const DataLayout &DL) {
  Value *Number =
      At.CreateTrunc(Word, At.getIntNTy(static_cast<unsigned>(DL.getTypeSizeInBits(T))));
  if (!T->isPtrOrPtrVectorTy())
    return At.CreateBitCast(Number, T);
  return At.CreateIntToPtr(At.CreateBitCast(Number, DL.getIntPtrType(T)), T);
}

/// The place of the program, for who traces: in front of the call, and behind it.
void traceAt(IRBuilderBase &At, Instruction &Of, bool Begins) {
  if (settings().Trace)
    callAbi(At, "__nvm_trace_at",
            {Begins ? makeSite(At, Of) : ConstantPointerNull::get(At.getPtrTy())});
}

/// Puts calls in place of instructions, of one function.
class Replacer {
public:
  explicit Replacer(Function &F) : F(F), DL(F.getDataLayout()) {}

  void load(LoadInst &Load) {
    Type *T = Load.getType();
    auto [Then, Else] = branch(Load, inRangeAt(Load, Load.getPointerOperand()));
    IRBuilder<> At(Then);
    Value *Got;
    if (isWord(T, DL)) {
      Value *Word = callAbi(At, "__nvm_get", {Load.getPointerOperand(), sizeOf(At, T)});
      Got = fromWord(At, Word, T, DL);
    } else {
      Value *Buffer = bufferFor(T);
      callAbi(At, "__nvm_copy", {Buffer, Load.getPointerOperand(), sizeOf(At, T)});
      Got = At.CreateAlignedLoad(T, Buffer, BufferAlign);
    }
    auto *Either = PHINode::Create(T, 2, "", Load.getParent()->getFirstInsertionPt());
    Load.replaceAllUsesWith(Either);
    Load.moveBefore(Else);
    Either->addIncoming(Got, Then->getParent());
    Either->addIncoming(&Load, Else->getParent());
    Either->setDebugLoc(Load.getDebugLoc());
  }

  void store(StoreInst &Store) {
    Value *V = Store.getValueOperand();
    auto [Then, Else] = branch(Store, inRangeAt(Store, Store.getPointerOperand()));
    IRBuilder<> At(Then);
    traceAt(At, Store, true);
    if (isWord(V->getType(), DL)) {
      callAbi(At, "__nvm_put",
              {Store.getPointerOperand(), wordOf(At, V, DL), sizeOf(At, V->getType())});
    } else {
      Value *Buffer = bufferFor(V->getType());
      At.CreateAlignedStore(V, Buffer, BufferAlign);
      callAbi(At, "__nvm_copy", {Store.getPointerOperand(), Buffer, sizeOf(At, V->getType())});
    }
    traceAt(At, Store, false);
    Store.moveBefore(Else);
  }

  void range(MemIntrinsic &Range) {
    IRBuilder<> Before(&Range);
    Value *To = Range.getRawDest(), *Is = inRange(Before, To);
    auto *Copy = dyn_cast<MemTransferInst>(&Range);
    if (Copy)
      Is = Before.CreateOr(Is, inRange(Before, Copy->getRawSource()));
    auto [Then, Else] = branch(Range, Is);
    IRBuilder<> At(Then);
    traceAt(At, Range, true);
    Value *Size = At.CreateZExtOrTrunc(Range.getLength(), At.getInt64Ty());
    if (Copy)
      callAbi(At, "__nvm_copy", {To, Copy->getRawSource(), Size});
    else
      callAbi(At, "__nvm_fill",
              {To, At.CreateZExt(cast<MemSetInst>(Range).getValue(), At.getInt32Ty()), Size});
    traceAt(At, Range, false);
    Range.moveBefore(Else);
  }

private:
  const Align BufferAlign{64};

  Value *inRangeAt(Instruction &Before, Value *Address) {
    IRBuilder<> At(&Before);
    return inRange(At, Address);
  }

  Value *sizeOf(IRBuilderBase &At, Type *T) {
    return At.getInt64(DL.getTypeStoreSize(T).getFixedValue());
  }

  /// The ends of two blocks in front of \p I: where \p Condition holds, and where it does not.
  static std::pair<Instruction *, Instruction *> branch(Instruction &I, Value *Condition) {
    Instruction *Then, *Else;
    SplitBlockAndInsertIfThenElse(Condition, &I, &Then, &Else);
    Then->setDebugLoc(I.getDebugLoc());
    Else->setDebugLoc(I.getDebugLoc());
    return {Then, Else};
  }

  /// Where a value lies while it is passed: one place for all of the function's.
  Value *bufferFor(Type *T) {
    uint64_t Size = DL.getTypeStoreSize(T).getFixedValue();
    if (!Buffer) {
      IRBuilder<> Entry(&*F.getEntryBlock().getFirstInsertionPt());
      Buffer = Entry.CreateAlloca(Entry.getInt8Ty(), Entry.getInt64(Size), "nvmove.passed");
      Buffer->setAlignment(BufferAlign);
    } else if (cast<ConstantInt>(Buffer->getArraySize())->getZExtValue() < Size) {
      Buffer->setOperand(0, ConstantInt::get(Buffer->getArraySize()->getType(), Size));
    }
    return Buffer;
  }

  Function &F;
  const DataLayout &DL;
  AllocaInst *Buffer = nullptr;
};

/// Functions that use a lock in place, and find nothing behind it. An argument of theirs leads to so many bytes at
/// most.
constexpr uint64_t LockSize = 64;
bool takesLocks(StringRef Name) {
  static constexpr StringLiteral Kinds[] = {
      "pthread_mutex_", "pthread_rwlock_", "pthread_spin_", "pthread_cond_", "mtx_", "cnd_"};
  static constexpr StringLiteral OfSemaphores[] = {"sem_clockwait", "sem_destroy", "sem_getvalue",
                                                   "sem_init",      "sem_post",    "sem_timedwait",
                                                   "sem_trywait",   "sem_wait"};
  return any_of(Kinds, [&](StringRef Kind) { return Name.starts_with(Kind); }) ||
         is_contained(OfSemaphores, Name);
}

/// Functions that do not look at what lies at an address which they are given. libnvmove copies what lies in a pool.
bool isAllocator(StringRef Name) {
  return is_contained({"calloc", "free", "malloc", "realloc", "reallocarray"}, Name);
}

/// Functions of libnvmove that a port file puts in place of the C library's, and that look at what they are given.
bool isPortFunction(const Function &Callee) {
  static constexpr StringLiteral Look[] = {"__nvm_port_strdup",       "__nvm_port_strndup",
                                           "__nvm_port_asprintf",     "__nvm_port_vasprintf",
                                           "__nvm_port_asprintf_chk", "__nvm_port_vasprintf_chk",
                                           "__nvm_port_getline",      "__nvm_port_getdelim"};
  return is_contained(Look, Callee.getName());
}

/// Functions of libnvmove that see what the thread has stored, wherever that is.
bool seesNewest(StringRef Name) {
  return Name.starts_with("nvm_tx_") || Name.starts_with("nvm_wrap_") ||
         is_contained({"nvm_alloc", "nvm_calloc", "nvm_free", "nvm_pool_base", "nvm_pool_close",
                       "nvm_pool_of", "nvm_pool_root", "nvm_pool_set_root", "nvm_realloc",
                       "nvm_usable_size"},
                      Name);
}

/// Whether other threads may see by \p I that something was stored before it.
bool publishes(const Instruction &I) {
  if (auto *Store = dyn_cast<StoreInst>(
          &I)) // a volatile flag is one for processors that keep the order of stores
    return Store->isVolatile() || isReleaseOrStronger(Store->getOrdering());
  if (auto *Swap = dyn_cast<AtomicRMWInst>(&I))
    return isReleaseOrStronger(Swap->getOrdering());
  if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
    return isReleaseOrStronger(Swap->getMergedOrdering());
  if (auto *Own = dyn_cast<IntrinsicInst>(&I))
    return Own->getIntrinsicID() == Intrinsic::x86_sse_sfence ||
           Own->getIntrinsicID() == Intrinsic::x86_sse2_mfence;
  auto *Fence = dyn_cast<FenceInst>(&I);
  return Fence && isReleaseOrStronger(Fence->getOrdering());
}

/// Whether nobody instruments what \p Call calls. The names of functions that the compiler itself calls begin with
/// two underscores.
bool isPrecompiled(const CallBase &Call, const UnsafeTable &Unsafe,
                   const TargetLibraryInfo &Library) {
  const Function *Callee = declaredCallee(Call);
  LibFunc Known;
  if (!Callee)
    return false;
  if (isPortFunction(*Callee) || Callee->hasFnAttribute(Attribute::Naked))
    return true;
  if (!Callee->isDeclaration() || isAbiFunction(*Callee) || seesNewest(Callee->getName()))
    return false;
  return Callee->getName().starts_with("nvm_") || Unsafe.find(*Callee) || systemFunction(Call) ||
         Library.getLibFunc(*Callee, Known) || Callee->getName().starts_with("__");
}

/// An intrinsic that reads memory, and is no access that is enumerated.
bool readsUnseen(const IntrinsicInst &I) {
  return !isa<MemIntrinsic>(I) && !I.isAssumeLikeIntrinsic() && I.mayReadFromMemory() &&
         I.getIntrinsicID() != Intrinsic::vastart && I.getIntrinsicID() != Intrinsic::vaend &&
         I.getIntrinsicID() != Intrinsic::prefetch;
}

/// Whether \p Call is given a function of the program, which it may call.
bool mayCallBack(const CallBase &Call) {
  return any_of(Call.args(),
                [](const Use &Argument) { return isa<Function>(Argument->stripPointerCasts()); });
}

/// Whether code can stand behind \p Call.
bool returnsHere(const CallBase &Call) {
  return !Call.isTerminator() && !Call.isMustTailCall() && !Call.doesNotReturn();
}

} // namespace

void markRedirected(Module &M) {
  Constant *Magic = ConstantInt::get(Type::getInt64Ty(M.getContext()), NVM_REDIRECTED_MAGIC);
  for (Function &F : M)
    if (!F.isDeclaration() && !F.hasFnAttribute(Attribute::Naked) && !F.hasPrefixData())
      F.setPrefixData(Magic);
}

void RedirectCounts::summary(const Module &M, raw_ostream &OS) const {
  OS << "nvmove: " << M.getSourceFileName() << ": redirected: " << Loads << " loads, " << Stores
     << " stores, " << Copies << " copies; settled before " << Settled << " accesses in place\n";
}

bool Redirect::takes(const Access &A) {
  const DataLayout &DL = A.At->getDataLayout();
  if (A.At->hasMetadata(VolatileFieldMark))
    return false;
  if (auto *Load = dyn_cast<LoadInst>(A.At))
    return Load->isSimple() && !DL.getTypeStoreSize(Load->getType()).isScalable();
  if (auto *Store = dyn_cast<StoreInst>(A.At))
    return Store->isSimple() &&
           !DL.getTypeStoreSize(Store->getValueOperand()->getType()).isScalable();
  auto *Range = dyn_cast<MemIntrinsic>(A.At);
  return Range && !Range->isVolatile();
}

void Redirect::findAccess(const Access &A) {
  bool IsMany = A.Address && A.Address->getType()->isVectorTy();
  if (A.Address && !IsMany &&
      originOf(A.Address, F, Library, settings().GlobalsMayPersist) != Origin::MayPersist)
    return;
  if (!takes(A)) {
    Access Settled = A;
    if (IsMany || (!A.Size && !A.Length))
      Settled.Address = nullptr;
    InPlace.push_back(Settled);
  } else if (Moved.empty() || Moved.back() != A.At) { // a copy is two accesses
    Moved.push_back(A.At);
  }
}

/// A pre-compiled function, or assembler, may look anywhere: by what it is given, by what it was given before. Or another
/// thread does, because of it.
void Redirect::findCall(CallBase &Call) {
  bool MayLook = !Call.onlyAccessesInaccessibleMemory() && !Call.doesNotAccessMemory();
  auto *Code = dyn_cast<InlineAsm>(Call.getCalledOperand());
  auto *Intrinsic = dyn_cast<IntrinsicInst>(&Call);
  if (MayLook && Call.isIndirectCall() && !declaredCallee(Call))
    return Indirect.push_back(&Call);
  bool IsUnseen = Code        ? !isEmptyAssembly(*Code)
                  : Intrinsic ? readsUnseen(*Intrinsic)
                              : isPrecompiled(Call, Unsafe, Library);
  if (!MayLook || !IsUnseen)
    return;
  StringRef Name = Code ? "" : declaredCallee(Call)->getName();
  if (isAllocator(Name))
    return;
  if (!takesLocks(Name) && mayCallBack(Call) && returnsHere(Call))
    return CallingBack.push_back(&Call);
  if (!takesLocks(Name))
    return InPlace.push_back(Access{&Call});
  for (Use &Argument : Call.args())
    if (Argument->getType()->isPointerTy()) {
      Access Lock{&Call};
      Lock.Address = Argument;
      Lock.Size = LockSize;
      InPlace.push_back(Lock);
    }
}

void Redirect::find() {
  for (const Access &A : enumerateAccesses(F, [](const CallBase &) { return false; }))
    findAccess(A);
  for (Instruction &I : instructions(F))
    if (publishes(I))
      InPlace.push_back(Access{&I});
    else if (auto *Call = dyn_cast<CallBase>(&I))
      findCall(*Call);
}

bool Redirect::settle(RedirectCounts &Made) {
  for (const Access &A : InPlace) {
    IRBuilder<> At(A.At);
    if (!A.Address) {
      callAbi(At, "__nvm_settle_all", {});
      continue;
    }
    At.SetInsertPoint(unlikelyBlock(inRange(At, A.Address), A.At));
    At.SetCurrentDebugLocation(A.At->getDebugLoc());
    Value *Size = A.Size ? At.getInt64(A.Size) : At.CreateZExtOrTrunc(A.Length, At.getInt64Ty());
    callAbi(At, "__nvm_settle", {A.Address, Size});
  }
  for (CallBase *Call : Indirect) {
    IRBuilder<> At(Call);
    callAbi(At, "__nvm_settle_before", {Call->getCalledOperand()});
  }
  for (CallBase *Call : CallingBack) {
    IRBuilder<> At(Call);
    Value *Before = callAbi(At, "__nvm_call_begin", {});
    At.SetInsertPoint(Call->getNextNode());
    callAbi(At, "__nvm_call_end", {Before});
  }
  size_t All = InPlace.size() + Indirect.size() + CallingBack.size();
  Made.Settled += static_cast<unsigned>(All);
  return All != 0;
}

bool Redirect::replace(RedirectCounts &Made) {
  Replacer To(F);
  for (Instruction *I : Moved) {
    if (auto *Load = dyn_cast<LoadInst>(I)) {
      To.load(*Load);
      ++Made.Loads;
    } else if (auto *Store = dyn_cast<StoreInst>(I)) {
      To.store(*Store);
      ++Made.Stores;
    } else {
      To.range(cast<MemIntrinsic>(*I));
      ++Made.Copies;
    }
  }
  return !Moved.empty();
}

} // namespace nvmove::plugin
