// Expressions as code: see UnsafeValues.h.
#include "unsafe/UnsafeValues.h"

#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace nvmove::plugin {

Value *Evaluator::value(const UnsafeExpr &E) {
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

Value *Evaluator::address(const UnsafeExpr &E) {
  if (E.What == UnsafeExpr::Argument && argument(E)->getType()->isPointerTy())
    return argument(E);
  return At.CreateIntToPtr(value(E), At.getPtrTy());
}

Value *Evaluator::argument(const UnsafeExpr &E) const {
  assert(E.What == UnsafeExpr::Argument && E.Value < Arguments.size());
  return Arguments[E.Value];
}

/// A program may have a function of that name with arguments of other types: then they are 0.
Value *Evaluator::asInteger(Value *V) {
  if (V->getType()->isPointerTy())
    return At.CreatePtrToInt(V, word());
  return V->getType()->isIntegerTy() ? At.CreateSExtOrTrunc(V, word()) : At.getInt64(0);
}

/// The address, or that of eight zero bytes when it is null.
Value *Evaluator::readable(const UnsafeExpr &E) {
  Value *Address = address(E);
  return At.CreateSelect(At.CreateIsNull(Address), zeros(), Address);
}

Constant *Evaluator::zeros() {
  constexpr StringRef Name = "__nvmove_zeros";
  if (GlobalVariable *Made = M.getNamedGlobal(Name))
    return Made;
  auto *Zeros = new GlobalVariable(M, word(), true, GlobalValue::PrivateLinkage,
                                   ConstantInt::get(word(), 0), Name);
  Zeros->setAlignment(Align(8));
  return Zeros;
}

Value *Evaluator::call(StringRef Name, ArrayRef<Value *> Operands) {
  SmallVector<Type *> Types;
  for (Value *Operand : Operands)
    Types.push_back(Operand->getType());
  return At.CreateCall(M.getOrInsertFunction(Name, FunctionType::get(word(), Types, false)),
                       Operands);
}

/// What a printf with these arguments makes: printed to nowhere, once more.
Value *Evaluator::printed(const UnsafeExpr &Format) {
  SmallVector<Value *> Operands{ConstantPointerNull::get(At.getPtrTy()), At.getInt64(0)};
  Operands.push_back(address(Format));
  append_range(Operands, Arguments.drop_front(Format.Value + 1));
  auto *T = FunctionType::get(At.getInt32Ty(), {At.getPtrTy(), word(), At.getPtrTy()}, true);
  return length(At.CreateCall(M.getOrInsertFunction("snprintf", T), Operands));
}

Value *Evaluator::vprinted(const UnsafeExpr &Format, const UnsafeExpr &List) {
  constexpr unsigned VaListSize = 32; // no target has a larger one
  IRBuilder<> Entry(&*At.GetInsertBlock()->getParent()->getEntryBlock().getFirstInsertionPt());
  AllocaInst *Copy = Entry.CreateAlloca(ArrayType::get(Entry.getInt8Ty(), VaListSize));
  Copy->setAlignment(Align(16));
  At.CreateIntrinsic(Intrinsic::vacopy, {At.getPtrTy()}, {Copy, address(List)});
  auto *T = FunctionType::get(At.getInt32Ty(),
                              {At.getPtrTy(), word(), At.getPtrTy(), At.getPtrTy()}, false);
  Value *Made =
      At.CreateCall(M.getOrInsertFunction("vsnprintf", T), {ConstantPointerNull::get(At.getPtrTy()),
                                                            At.getInt64(0), address(Format), Copy});
  At.CreateIntrinsic(Intrinsic::vaend, {At.getPtrTy()}, {Copy});
  return length(Made);
}

/// printf's result. It is negative when it failed, and then it has written nobody knows how much:
/// at most what it could return.
Value *Evaluator::length(Value *Result) {
  Value *Most = At.getInt32(static_cast<uint32_t>(INT32_MAX));
  return At.CreateZExt(At.CreateBinaryIntrinsic(Intrinsic::umin, Result, Most), word());
}

} // namespace nvmove::plugin
