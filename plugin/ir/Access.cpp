// The one enumeration of accesses: see Access.h.
#include "ir/Access.h"

#include "ir/Assembly.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

class Enumerator {
public:
  Enumerator(Function &F, function_ref<bool(const CallBase &)> IsPrecompiled)
      : DL(F.getDataLayout()), IsPrecompiled(IsPrecompiled) {}

  void visit(Instruction &I) {
    if (auto *Load = dyn_cast<LoadInst>(&I))
      add(I, AccessKind::Load, false, Load->getPointerOperand(), Load->getType(), Load->isAtomic());
    else if (auto *Store = dyn_cast<StoreInst>(&I))
      add(I, AccessKind::Store, true, Store->getPointerOperand(),
          Store->getValueOperand()->getType(), Store->isAtomic());
    else if (auto *Swap = dyn_cast<AtomicRMWInst>(&I))
      add(I, AccessKind::Exchange, true, Swap->getPointerOperand(), Swap->getType(), true);
    else if (auto *Swap = dyn_cast<AtomicCmpXchgInst>(&I))
      add(I, AccessKind::Exchange, true, Swap->getPointerOperand(),
          Swap->getNewValOperand()->getType(), true);
    else if (auto *Intrinsic = dyn_cast<IntrinsicInst>(&I))
      visitIntrinsic(*Intrinsic);
    else if (auto *Call = dyn_cast<CallBase>(&I))
      visitCall(*Call);
  }

  SmallVector<Access> Found;

private:
  Access &add(Instruction &At, AccessKind Kind, bool Writes, Value *Address, Type *T,
              bool Atomic = false) {
    Access X;
    X.At = &At;
    X.Kind = Kind;
    X.Writes = Writes;
    X.Address = Address;
    if (T && !DL.getTypeStoreSize(T).isScalable())
      X.Size = DL.getTypeStoreSize(T).getFixedValue();
    X.Atomic = Atomic;
    Found.push_back(X);
    return Found.back();
  }

  void addRange(Instruction &At, bool Writes, Value *Address, Value *Length) {
    Access &X = add(At, AccessKind::Copy, Writes, Address, nullptr);
    if (auto *Known = dyn_cast<ConstantInt>(Length))
      X.Size = Known->getZExtValue();
    X.Length = Length;
  }

  void addMasked(IntrinsicInst &I, AccessKind Kind, bool Writes, unsigned AddressArgument,
                 Type *Vector, unsigned MaskArgument) {
    Access &X = add(I, Kind, Writes, I.getArgOperand(AddressArgument), Vector);
    X.Mask = I.getArgOperand(MaskArgument);
  }

  void visitIntrinsic(IntrinsicInst &I) {
    switch (I.getIntrinsicID()) {
    case Intrinsic::memcpy:
    case Intrinsic::memcpy_inline:
    case Intrinsic::memmove: {
      auto &Copy = cast<MemTransferInst>(I);
      addRange(I, false, Copy.getRawSource(), Copy.getLength());
      return addRange(I, true, Copy.getRawDest(), Copy.getLength());
    }
    case Intrinsic::memset:
    case Intrinsic::memset_inline: {
      auto &Set = cast<MemSetInst>(I);
      return addRange(I, true, Set.getRawDest(), Set.getLength());
    }
    case Intrinsic::masked_store:
      return addMasked(I, AccessKind::Masked, true, 1, I.getArgOperand(0)->getType(), 3);
    case Intrinsic::masked_scatter:
      return addMasked(I, AccessKind::Scatter, true, 1, I.getArgOperand(0)->getType(), 3);
    case Intrinsic::masked_compressstore:
      return addMasked(I, AccessKind::Compress, true, 1, I.getArgOperand(0)->getType(), 2);
    case Intrinsic::masked_load:
      return addMasked(I, AccessKind::Masked, false, 0, I.getType(), 2);
    case Intrinsic::masked_gather:
      return addMasked(I, AccessKind::Scatter, false, 0, I.getType(), 2);
    case Intrinsic::masked_expandload:
      return addMasked(I, AccessKind::Compress, false, 0, I.getType(), 1);
    case Intrinsic::vastart:
    case Intrinsic::vacopy: {
      // The System V va_list of x86-64; on other targets the store is at most as large.
      constexpr uint64_t VaListSize = 24;
      add(I, AccessKind::Copy, true, I.getArgOperand(0), nullptr).Size = VaListSize;
      return;
    }
    default:
      break;
    }
    if (!mayWriteArguments(I))
      return;
    for (unsigned N = 0; N < I.arg_size(); ++N)
      if (I.getArgOperand(N)->getType()->isPointerTy() && !I.onlyReadsMemory(N))
        add(I, AccessKind::Unknown, true, I.getArgOperand(N), nullptr);
  }

  static bool mayWriteArguments(const IntrinsicInst &I) {
    switch (I.getIntrinsicID()) {
    case Intrinsic::vaend: // declared as writing, so that nothing moves across them
    case Intrinsic::prefetch:
    case Intrinsic::stackrestore:
    case Intrinsic::x86_clflushopt: // change nothing that anybody reads
    case Intrinsic::x86_clwb:
    case Intrinsic::x86_sse2_clflush:
      return false;
    default:
      return !I.isAssumeLikeIntrinsic() &&
             isModSet(I.getMemoryEffects().getModRef(IRMemLocation::ArgMem));
    }
  }

  void visitCall(CallBase &Call) {
    for (unsigned N = 0; N < Call.arg_size(); ++N)
      if (Call.isByValArgument(N))
        add(Call, AccessKind::Load, false, Call.getArgOperand(N), Call.getParamByValType(N));
    if (Call.isInlineAsm())
      return visitAssembly(Call);
    if (visitAtomicLibrary(Call))
      return;
    if (!IsPrecompiled(Call))
      return;
    add(Call, AccessKind::Precompiled, true, nullptr, nullptr);
    for (unsigned N = 0; N < Call.arg_size(); ++N)
      if (Type *Result = Call.getParamStructRetType(N))
        add(Call, AccessKind::Store, true, Call.getArgOperand(N), Result);
  }

  /// What the compiler itself calls for an object that is too large for an instruction. The two
  /// that only load or store are in libc.unsafe.
  bool visitAtomicLibrary(CallBase &Call) {
    const Function *Callee = namedCallee(Call);
    if (!Callee || !Callee->isDeclaration())
      return false;
    constexpr unsigned Length = 0, Object = 1;
    unsigned Old; // receives what the object was
    if (Callee->getName() == "__atomic_exchange" && Call.arg_size() == 5)
      Old = 3;
    else if (Callee->getName() == "__atomic_compare_exchange" && Call.arg_size() == 6)
      Old = 2;
    else
      return false;
    addRange(Call, true, Call.getArgOperand(Object), Call.getArgOperand(Length));
    Found.back().Kind = AccessKind::Exchange;
    Found.back().Atomic = true;
    addRange(Call, true, Call.getArgOperand(Old), Call.getArgOperand(Length));
    return true;
  }

  /// An operand is the address of a variable ("i"), which a modifier makes a place in memory.
  static bool namesVariable(const CallBase &Call, ArrayRef<InlineAsm::ConstraintInfo> Constraints) {
    unsigned N = 0;
    return any_of(Constraints, [&](const InlineAsm::ConstraintInfo &C) {
      return C.hasArg() && isa<GlobalValue>(getUnderlyingObject(Call.getArgOperand(N++))) &&
             C.Type == InlineAsm::isInput && !C.isIndirect;
    });
  }

  /// Memory outputs are written. So may be whatever an input leads to, if the assembler says that it
  /// changes memory: the operand in memory itself; and where it forms addresses an address in a
  /// register, one that was made a number on its way there, and one that lies in the operand.
  void visitAssembly(CallBase &Call) {
    auto *Code = cast<InlineAsm>(Call.getCalledOperand());
    if (isEmptyAssembly(*Code))
      return;
    InlineAsm::ConstraintInfoVector Constraints = Code->ParseConstraints();
    bool ClobbersMemory = any_of(Constraints, [](const InlineAsm::ConstraintInfo &C) {
      return C.Type == InlineAsm::isClobber && is_contained(C.Codes, "{memory}");
    });
    bool FormsAddress = mayFormAddress(*Code) || namesVariable(Call, Constraints);
    unsigned N = 0; // operands that are arguments: inputs, and outputs in memory
    for (const InlineAsm::ConstraintInfo &C : Constraints) {
      if (!C.hasArg())
        continue;
      if (C.Type == InlineAsm::isOutput)
        addAssembled(Call, Call.getArgOperand(N));
      else if (ClobbersMemory)
        visitAssemblyInput(Call, N, C.isIndirect, FormsAddress);
      ++N;
    }
  }

  void visitAssemblyInput(CallBase &Call, unsigned N, bool IsInMemory, bool FormsAddress) {
    Value *Input = Call.getArgOperand(N);
    if (!IsInMemory && !FormsAddress)
      return;
    if (auto *Number = dyn_cast<PtrToIntOperator>(Input))
      Input = Number->getPointerOperand();
    if (Input->getType()->isPointerTy())
      addAssembled(Call, Input);
    else if (mayHoldAddress(Input->getType()) && !isa<Constant>(Input) && !isNarrow(Input))
      addAssembled(Call, nullptr);
    auto *Variable = dyn_cast<GlobalVariable>(getUnderlyingObject(Input));
    if (IsInMemory && FormsAddress && mayHoldAddress(Call.getParamElementType(N)) &&
        !(Variable && Variable->isConstant()))
      addAssembled(Call, nullptr);
  }

  /// True for a number that was made of one with too few bits for the address of a pool.
  bool isNarrow(const Value *Number) const {
    constexpr unsigned AddressBits = 64 - 32;
    return Number->getType()->isIntegerTy(64) && ComputeNumSignBits(Number, DL) >= AddressBits;
  }

  /// Without an address: one that nothing is known of.
  void addAssembled(CallBase &Call, Value *Address) {
    add(Call, AccessKind::Assembly, true, Address, nullptr);
  }

  bool mayHoldAddress(Type *T) const {
    return !T || !T->isSized() || DL.getTypeStoreSize(T).getKnownMinValue() >= DL.getPointerSize();
  }

  const DataLayout &DL;
  function_ref<bool(const CallBase &)> IsPrecompiled;
};

} // namespace

StringRef libraryCallee(const CallBase &Call) {
  const Function *Callee = namedCallee(Call);
  if (!Callee || Callee->isIntrinsic())
    return "";
  StringRef Name = Callee->getName();
  Name.consume_front("\1"); // an asm label: the name as the object file has it
  if (Callee->isDeclarationForLinker())
    return Name;
  bool IsWrapper = Callee->hasLocalLinkage() && Callee->hasFnAttribute(Attribute::AlwaysInline);
  return IsWrapper && Name.consume_back(".inline") ? Name : StringRef();
}

SmallVector<Access> enumerateAccesses(Function &F,
                                      function_ref<bool(const CallBase &)> IsPrecompiled) {
  Enumerator E(F, IsPrecompiled);
  for (Instruction &I : instructions(F))
    E.visit(I);
  return std::move(E.Found);
}

} // namespace nvmove::plugin
