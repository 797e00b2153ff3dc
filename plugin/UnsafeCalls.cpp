// Notes before calls of pre-compiled functions: see UnsafeCalls.h.
#include "UnsafeCalls.h"

#include "Abi.h"
#include "Formats.h"
#include "Notes.h"

#include "nvmove/abi.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace nvmove::plugin {
namespace {

/// Turns expressions into code. Addresses that a range is reached through may be null, so that
/// loads and string functions of a null address give 0 instead of a fault that the program would
/// not have.
class Evaluator {
public:
  Evaluator(IRBuilderBase &At, ArrayRef<Value *> Arguments, Value *Element)
      : At(At), Arguments(Arguments), Element(Element), M(*At.GetInsertBlock()->getModule()) {}

  Value *value(const UnsafeExpr &E) {
    switch (E.What) {
    case UnsafeExpr::Number:
      return At.getInt64(E.Value);
    case UnsafeExpr::Argument:
      return asInteger(argument(E));
    case UnsafeExpr::Element:
      return Element;
    case UnsafeExpr::Load: {
      Type *Loaded = At.getIntNTy(8 * static_cast<unsigned>(E.Value));
      return At.CreateZExt(At.CreateAlignedLoad(Loaded, readable(E.Operands[0]), Align(1)), word());
    }
    case UnsafeExpr::Add:
      return At.CreateAdd(value(E.Operands[0]), value(E.Operands[1]));
    case UnsafeExpr::Subtract:
      return At.CreateSub(value(E.Operands[0]), value(E.Operands[1]));
    case UnsafeExpr::Multiply:
      return At.CreateMul(value(E.Operands[0]), value(E.Operands[1]));
    case UnsafeExpr::Either: {
      Value *First = value(E.Operands[0]);
      return At.CreateSelect(At.CreateIsNotNull(First), First, value(E.Operands[1]));
    }
    case UnsafeExpr::Min:
      return At.CreateBinaryIntrinsic(Intrinsic::umin, value(E.Operands[0]), value(E.Operands[1]));
    case UnsafeExpr::Strlen:
      return call("strlen", {readable(E.Operands[0])});
    case UnsafeExpr::Strnlen:
      return call("strnlen", {readable(E.Operands[0]), value(E.Operands[1])});
    case UnsafeExpr::Wcslen:
      return call("wcslen", {readable(E.Operands[0])});
    case UnsafeExpr::Printed:
      return printed(E.Operands[0]);
    case UnsafeExpr::VPrinted:
      return vprinted(E.Operands[0], E.Operands[1]);
    }
    llvm_unreachable("every kind is handled");
  }

  Value *address(const UnsafeExpr &E) {
    if (E.What == UnsafeExpr::Argument && argument(E)->getType()->isPointerTy())
      return argument(E);
    return At.CreateIntToPtr(value(E), At.getPtrTy());
  }

  Value *argument(const UnsafeExpr &E) const {
    assert(E.What == UnsafeExpr::Argument && E.Value < Arguments.size());
    return Arguments[E.Value];
  }

private:
  Type *word() const { return At.getInt64Ty(); }

  /// A program may have a function of that name with arguments of other types: then they are 0.
  Value *asInteger(Value *V) {
    if (V->getType()->isPointerTy())
      return At.CreatePtrToInt(V, word());
    return V->getType()->isIntegerTy() ? At.CreateSExtOrTrunc(V, word()) : At.getInt64(0);
  }

  /// The address, or that of eight zero bytes when it is null.
  Value *readable(const UnsafeExpr &E) {
    Value *Address = address(E);
    return At.CreateSelect(At.CreateIsNull(Address), zeros(), Address);
  }

  Constant *zeros() {
    constexpr StringRef Name = "__nvmove_zeros";
    if (GlobalVariable *Made = M.getNamedGlobal(Name))
      return Made;
    auto *Zeros = new GlobalVariable(M, word(), true, GlobalValue::PrivateLinkage,
                                     ConstantInt::get(word(), 0), Name);
    Zeros->setAlignment(Align(8));
    return Zeros;
  }

  Value *call(StringRef Name, ArrayRef<Value *> Operands) {
    SmallVector<Type *> Types;
    for (Value *Operand : Operands)
      Types.push_back(Operand->getType());
    return At.CreateCall(M.getOrInsertFunction(Name, FunctionType::get(word(), Types, false)),
                         Operands);
  }

  /// What a printf with these arguments makes: printed to nowhere, once more.
  Value *printed(const UnsafeExpr &Format) {
    SmallVector<Value *> Operands{ConstantPointerNull::get(At.getPtrTy()), At.getInt64(0)};
    Operands.push_back(address(Format));
    append_range(Operands, Arguments.drop_front(Format.Value + 1));
    auto *T = FunctionType::get(At.getInt32Ty(), {At.getPtrTy(), word(), At.getPtrTy()}, true);
    return length(At.CreateCall(M.getOrInsertFunction("snprintf", T), Operands));
  }

  Value *vprinted(const UnsafeExpr &Format, const UnsafeExpr &List) {
    constexpr unsigned VaListSize = 32; // no target has a larger one
    IRBuilder<> Entry(&*At.GetInsertBlock()->getParent()->getEntryBlock().getFirstInsertionPt());
    AllocaInst *Copy = Entry.CreateAlloca(ArrayType::get(Entry.getInt8Ty(), VaListSize));
    Copy->setAlignment(Align(16));
    At.CreateIntrinsic(Intrinsic::vacopy, {At.getPtrTy()}, {Copy, address(List)});
    auto *T = FunctionType::get(At.getInt32Ty(),
                                {At.getPtrTy(), word(), At.getPtrTy(), At.getPtrTy()}, false);
    Value *Made = At.CreateCall(
        M.getOrInsertFunction("vsnprintf", T),
        {ConstantPointerNull::get(At.getPtrTy()), At.getInt64(0), address(Format), Copy});
    At.CreateIntrinsic(Intrinsic::vaend, {At.getPtrTy()}, {Copy});
    return length(Made);
  }

  /// printf's result. It is negative when it failed, and then it has written nobody knows how much:
  /// at most what it could return.
  Value *length(Value *Result) {
    Value *Most = At.getInt32(static_cast<uint32_t>(INT32_MAX));
    return At.CreateZExt(At.CreateBinaryIntrinsic(Intrinsic::umin, Result, Most), word());
  }

  IRBuilderBase &At;
  ArrayRef<Value *> Arguments;
  Value *Element;
  Module &M;
};

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
/// exception the runtime finds out that its caller's frame is gone. Behind a call that must be a tail
/// call there is no place: what it writes is noted once.
void setBackBehind(CallBase &Call, Value *Called) {
  Instruction *Behind = Call.isMustTailCall() ? &Call : Call.getNextNode();
  if (auto *Invoke = dyn_cast<InvokeInst>(&Call))
    Behind = &*SplitEdge(Invoke->getParent(), Invoke->getNormalDest())->getFirstInsertionPt();
  IRBuilder<> At(Behind);
  StoreInst *Back = At.CreateAlignedStore(Called, calledRanges(At), Align(8));
  Back->setMetadata(LLVMContext::MD_nosanitize, MDNode::get(Back->getContext(), {}));
}

} // namespace

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
