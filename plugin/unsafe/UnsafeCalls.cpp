// Notes before calls of pre-compiled functions: see UnsafeCalls.h.
#include "unsafe/UnsafeCalls.h"

#include "emit/Abi.h"
#include "ir/Landings.h"
#include "ir/Notes.h"
#include "unsafe/Formats.h"
#include "unsafe/UnsafeValues.h"

#include "nvmove/abi.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

class CallNoter {
public:
  CallNoter(const UnsafeCall &Call, const UnsafeFunction &F,
            function_ref<bool(const Value *)> MayPersist, Report &Warnings)
      : Call(Call), F(F), MayPersist(MayPersist), Warnings(Warnings) {}

  /// Notes \p R before \p At; \p Element is the address of the element of an `each` around it.
  bool note(const UnsafeRange &R, Instruction *At, Value *Element) {
    switch (R.What) {
    case UnsafeRange::Bytes:
      return noteBytes(R, At, Element);
    case UnsafeRange::Each:
      return R.UntilNull ? noteEachUntilNull(R, At, Element) : noteEach(R, At, Element);
    case UnsafeRange::Later:
      return warnOfLater(R), false;
    case UnsafeRange::Scanf:
      return noteScanf(R, At);
    case UnsafeRange::VScanf:
      return noteVScanf(R, At);
    case UnsafeRange::Percent:
      return notePercent(R, At);
    }
    llvm_unreachable("every kind is handled");
  }

private:
  bool noteBytes(const UnsafeRange &R, Instruction *At, Value *Element) {
    IRBuilder<> B(At);
    Evaluator E(B, Call.Arguments, Element);
    Value *Address = E.address(R.Address);
    if (!MayPersist(Address))
      return false;
    if (R.Size.What == UnsafeExpr::Number && F.Keeps) {
      emitNote({At, Address, R.Size.Value, nullptr});
      return true;
    }
    // Only an address in the range pays for finding the size.
    B.SetInsertPoint(unlikelyBlock(inRange(B, Address), At));
    callAbi(B, F.Keeps ? "__nvm_note_if_persistent" : "__nvm_note_call",
            {Address, E.value(R.Size)});
    return true;
  }

  bool noteEach(const UnsafeRange &R, Instruction *At, Value *Element) {
    IRBuilder<> B(At);
    Evaluator E(B, Call.Arguments, Element);
    Value *Base = E.value(R.Address);
    Value *Count = E.value(R.Size);
    Value *Some = B.CreateICmpSGT(Count, B.getInt64(0)); // a call with fewer than none fails
    Value *Any = B.CreateAnd(B.CreateIsNotNull(Base), Some);
    Instruction *Nonempty = SplitBlockAndInsertIfThen(Any, At, /*Unreachable=*/false);
    auto [Body, Index] = SplitBlockAndInsertSimpleForLoop(Count, Nonempty);
    B.SetInsertPoint(Body);
    Value *Each = B.CreateAdd(Base, B.CreateMul(Index, B.getInt64(R.Stride)));
    note(R.Inside.front(), Body, Each);
    return true;
  }

  /// The loop of a null-terminated array, whose elements begin with an address.
  bool noteEachUntilNull(const UnsafeRange &R, Instruction *At, Value *Element) {
    IRBuilder<> B(At);
    Value *Base = Evaluator(B, Call.Arguments, Element).value(R.Address);
    Instruction *Nonempty = SplitBlockAndInsertIfThen(B.CreateIsNotNull(Base), At, false);
    BasicBlock *Before = Nonempty->getParent(), *Behind = At->getParent();
    BasicBlock *Head = BasicBlock::Create(At->getContext(), "", At->getFunction(), Behind);
    BasicBlock *Body = BasicBlock::Create(At->getContext(), "", At->getFunction(), Behind);
    Nonempty->setSuccessor(0, Head);
    B.SetInsertPoint(Head);
    PHINode *Each = B.CreatePHI(B.getInt64Ty(), 2);
    Each->addIncoming(Base, Before);
    Value *First =
        B.CreateAlignedLoad(B.getInt64Ty(), B.CreateIntToPtr(Each, B.getPtrTy()), Align(1));
    B.CreateCondBr(B.CreateIsNull(First), Behind, Body);
    B.SetInsertPoint(Body);
    Value *Next = B.CreateAdd(Each, B.getInt64(R.Stride));
    Instruction *Back = B.CreateBr(Head);
    note(R.Inside.front(), cast<Instruction>(Next), Each);
    Each->addIncoming(Next, Back->getParent());
    return true;
  }

  /// Nothing covers what is written when the call has returned. A stream that only reads writes
  /// nothing.
  void warnOfLater(const UnsafeRange &R) {
    Value *Address = Call.Arguments[R.Address.Value];
    StringRef Mode;
    if (Call.IsWrapper || !mayStore(Address) ||
        (R.Bounded && getConstantStringInfo(Call.Arguments[R.Size.Value], Mode) &&
         Mode.starts_with("r") && !Mode.contains('+')))
      return;
    Warnings.warn(*Call.Before, "'" + F.Name + "' lets the library write later to argument " +
                                    Twine(R.Address.Value + 1) +
                                    ", and nothing logs that where it is persistent memory; give "
                                    "it memory of malloc");
  }

  /// The arguments behind the format.
  ArrayRef<Value *> following(const UnsafeRange &R) const {
    return ArrayRef(Call.Arguments).drop_front(R.Address.Value + 1);
  }

  bool mayStore(Value *V) { return V->getType()->isPointerTy() && MayPersist(V); }

  Value *format(const UnsafeRange &R) const { return Call.Arguments[R.Address.Value]; }

  bool literal(const UnsafeRange &R, StringRef &Text) const {
    return R.Character == 1 && format(R)->getType()->isPointerTy() &&
           getConstantStringInfo(format(R), Text);
  }

  bool notePercent(const UnsafeRange &R, Instruction *At) {
    StringRef Text;
    return literal(R, Text) && noteStores(printfStores(Text), R, At);
  }

  bool noteScanf(const UnsafeRange &R, Instruction *At) {
    StringRef Text;
    if (literal(R, Text))
      return noteStores(scanfStores(Text), R, At);
    auto MayStore = [this](Value *V) { return mayStore(V); };
    if (!format(R)->getType()->isPointerTy() || none_of(following(R), MayStore))
      return false;
    IRBuilder<> B(At);
    Value *Any = B.getFalse();
    for (Value *V : make_filter_range(following(R), MayStore))
      Any = B.CreateOr(Any, inRange(B, V));
    B.SetInsertPoint(unlikelyBlock(Any, At));
    SmallVector<Value *> Operands = walkOf(B, R);
    append_range(Operands, following(R));
    callAbi(B, "__nvm_note_scanf", Operands);
    return true;
  }

  bool noteVScanf(const UnsafeRange &R, Instruction *At) {
    Value *List = Call.Arguments[R.List.Value];
    if (!format(R)->getType()->isPointerTy() || !List->getType()->isPointerTy())
      return false;
    StringRef Text;
    if (literal(R, Text) && !R.Bounded &&
        any_of(scanfStores(Text), [](const FormatStore &S) { return S.Unbounded; }))
      warnUnbounded();
    IRBuilder<> B(At);
    SmallVector<Value *> Operands = walkOf(B, R);
    Operands.push_back(List);
    callAbi(B, "__nvm_note_vscanf", Operands);
    return true;
  }

  /// What a walk over a format at run time is told of it.
  SmallVector<Value *> walkOf(IRBuilderBase &B, const UnsafeRange &R) {
    Value *Bound =
        R.Bounded ? Evaluator(B, Call.Arguments, nullptr).value(R.Size) : B.getInt64(UINT64_MAX);
    return {format(R), B.getInt64(R.Character), Bound};
  }

  bool noteStores(ArrayRef<FormatStore> Stores, const UnsafeRange &R, Instruction *At) {
    ArrayRef<Value *> Following = following(R);
    bool Noted = false;
    for (const FormatStore &S : Stores)
      if (S.Argument < Following.size() && mayStore(Following[S.Argument]))
        Noted |= noteStore(S, Following[S.Argument], R, At);
    return Noted;
  }

  void warnUnbounded() {
    Warnings.warn(*Call.Before, "'" + F.Name +
                                    "' reads a string without a width: what it writes to "
                                    "persistent memory cannot be logged");
  }

  bool noteStore(const FormatStore &S, Value *Address, const UnsafeRange &R, Instruction *At) {
    if (!S.Unbounded) {
      IRBuilder<> B(At);
      B.SetInsertPoint(unlikelyBlock(inRange(B, Address), At));
      callAbi(B, "__nvm_note_call", {Address, B.getInt64(S.Size)});
      return true;
    }
    if (!R.Bounded) {
      warnUnbounded();
      return false;
    }
    IRBuilder<> B(At);
    B.SetInsertPoint(unlikelyBlock(inRange(B, Address), At));
    Value *Characters =
        B.CreateAdd(Evaluator(B, Call.Arguments, nullptr).value(R.Size), B.getInt64(1));
    callAbi(B, "__nvm_note_call", {Address, B.CreateMul(Characters, B.getInt64(S.Size))});
    return true;
  }

  const UnsafeCall &Call;
  const UnsafeFunction &F;
  function_ref<bool(const Value *)> MayPersist;
  Report &Warnings;
};

bool fits(const UnsafeFunction &F, size_t Arguments) {
  return F.AtLeast ? Arguments >= F.Arguments : Arguments == F.Arguments;
}

Value *calledRanges(IRBuilderBase &At) {
  return At.CreateConstInBoundsGEP1_64(At.getInt8Ty(), lineTable(At),
                                       offsetof(struct nvm_line_table, called));
}

/// The call has returned: what it could write is noted no more than any other. Where it ends by an
/// exception a landing pad tells the runtime (Landings.h). Behind a call that must be a tail
/// call there is no place: what it writes is noted once.
void setBackBehind(CallBase &Call, Value *Called) {
  Call.setMetadata(NotedCallMark, MDNode::get(Call.getContext(), {}));
  Instruction *Behind = Call.isMustTailCall() ? &Call : Call.getNextNode();
  if (auto *Invoke = dyn_cast<InvokeInst>(&Call))
    Behind = &*SplitEdge(Invoke->getParent(), Invoke->getNormalDest())->getFirstInsertionPt();
  IRBuilder<> At(Behind);
  StoreInst *Back = At.CreateAlignedStore(Called, calledRanges(At), Align(8));
  Back->setMetadata(LLVMContext::MD_nosanitize, MDNode::get(Back->getContext(), {}));
}

/// The argument that an address is made of; null: it comes from memory.
const UnsafeExpr *baseOf(const UnsafeExpr &E) {
  switch (E.What) {
  case UnsafeExpr::Argument:
    return &E;
  case UnsafeExpr::Add:
  case UnsafeExpr::Subtract:
  case UnsafeExpr::Either:
    return baseOf(E.Operands[0]);
  default:
    return nullptr;
  }
}

} // namespace

void bytesBefore(
    const UnsafeCall &Call, const UnsafeFunction &F, ArrayRef<UnsafeRange> Ranges,
    function_ref<Instruction *(Value *)> Place,
    function_ref<void(IRBuilderBase &, Value *Argument, Value *Address, Value *Size)> Each) {
  if (!fits(F, Call.Arguments.size()))
    return;
  for (const UnsafeRange &R : Ranges) {
    const UnsafeExpr *Base = R.What == UnsafeRange::Bytes ? baseOf(R.Address) : nullptr;
    Value *Argument = Base ? Call.Arguments[Base->Value] : nullptr;
    bool IsPointer = Argument && Argument->getType()->isPointerTy();
    Instruction *Before = IsPointer ? Place(Argument) : nullptr;
    if (!Before)
      continue;
    IRBuilder<> At(Before);
    Evaluator E(At, Call.Arguments, nullptr);
    Value *Address = E.address(R.Address);
    Each(At, Argument, Address, E.value(R.Size));
  }
}

bool noteBefore(const UnsafeCall &Call, const UnsafeFunction &F,
                function_ref<bool(const Value *)> MayPersist, Report &Warnings) {
  if (!fits(F, Call.Arguments.size())) {
    Warnings.warn(*Call.Before, "'" + F.Name + "' is called with " + Twine(Call.Arguments.size()) +
                                    " arguments, its .unsafe entry has " + Twine(F.Arguments));
    return false;
  }
  CallNoter Noter(Call, F, MayPersist, Warnings);
  bool Noted = false;
  IRBuilder<> At(Call.Before);
  LoadInst *Called = At.CreateAlignedLoad(At.getInt64Ty(), calledRanges(At), Align(8));
  Called->setMetadata(LLVMContext::MD_nosanitize, MDNode::get(Called->getContext(), {}));
  for (const UnsafeRange &R : F.Writes)
    Noted |= Noter.note(R, Call.Before, nullptr);
  if (Noted && !F.Keeps)
    setBackBehind(*cast<CallBase>(Call.Before), Called);
  else
    Called->eraseFromParent();
  return Noted;
}

} // namespace nvmove::plugin
