// Casts, operators and assignments. See FunctionRecorder.h.
#include "scan/FunctionRecorder.h"

#include "clang/AST/Expr.h"

namespace nvmove::scan {

using namespace facts;
using clang::Expr;
using clang::QualType;

namespace {

bool isBytePointer(QualType Type) {
  if (!Type->isPointerType())
    return false;
  QualType Pointee = Type->getPointeeType();
  return Pointee->isVoidType() || Pointee->isCharType();
}

const clang::RecordDecl *pointedRecord(QualType Type) {
  if (!Type->isPointerType())
    return nullptr;
  const auto *Record = Type->getPointeeType()->getAs<clang::RecordType>();
  return Record ? Record->getDecl() : nullptr;
}

} // namespace

Register FunctionRecorder::merge(Register A, Register B, QualType Type,
                                 clang::SourceLocation Where) {
  bool HaveA = A != None && A != NullRegister, HaveB = B != None && B != NullRegister;
  if (!HaveA && !HaveB)
    return A == NullRegister && B == NullRegister ? NullRegister : None;
  if (!HaveA || !HaveB || A == B)
    return HaveA ? A : B;
  Register Both = fresh(Type);
  for (Register From : {A, B}) {
    Instruction &Made = emit(Op::Copy, Where);
    Made.Dst = Both;
    Made.A = From;
  }
  return Both;
}

Register FunctionRecorder::castValue(const clang::CastExpr *E) {
  const Expr *From = E->getSubExpr();
  switch (E->getCastKind()) {
  case clang::CK_LValueToRValue:
    return load(place(From), E->getType(), From->getExprLoc());
  case clang::CK_ArrayToPointerDecay: {
    Place Array = place(From);
    return Array.Where == Place::InMemory ? Array.Reg : None;
  }
  case clang::CK_FunctionToPointerDecay:
    return value(From);
  case clang::CK_NullToPointer:
    return NullRegister;
  case clang::CK_ToVoid:
  case clang::CK_PointerToBoolean:
    value(From);
    return None;
  default:
    break;
  }
  Register Value = value(From);
  if (Value == None || Value == NullRegister)
    return Value;
  const clang::RecordDecl *To = pointedRecord(E->getType());
  bool Bytes = isBytePointer(E->getType()) && !E->getType()->isVoidPointerType() &&
               From->getType()->isVoidPointerType();
  if ((!To && !Bytes) || E->getType().getCanonicalType() == From->getType().getCanonicalType())
    return Value;
  if (const clang::RecordDecl *Same = pointedRecord(From->getType());
      To && Same && Same->getCanonicalDecl() == To->getCanonicalDecl())
    return Value;
  Step How;
  How.Ty = Types.type(E->getType());
  How.Implicit = llvm::isa<clang::ImplicitCastExpr>(E);
  return derive(Op::Cast, Value, E->getType(), E->getExprLoc(), How);
}

Register FunctionRecorder::unaryValue(const clang::UnaryOperator *E) {
  const Expr *Sub = E->getSubExpr();
  switch (E->getOpcode()) {
  case clang::UO_AddrOf: {
    if (Sub->getType()->isFunctionType())
      return value(Sub);
    Place Target = place(Sub);
    return Target.Where == Place::InMemory ? Target.Reg : None;
  }
  case clang::UO_Deref: // Of a function pointer: the function again.
    return value(Sub);
  case clang::UO_PostInc:
  case clang::UO_PostDec:
  case clang::UO_PreInc:
  case clang::UO_PreDec: {
    noteAssigned(Sub, false);
    Place Target = place(Sub);
    Register Value = load(Target, Sub->getType(), E->getExprLoc());
    if (!Sub->getType()->isPointerType())
      store(Target, None, Sub->getType(), E->getExprLoc());
    return Value;
  }
  case clang::UO_LNot:
    value(Sub);
    return None;
  default:
    return value(Sub);
  }
}

Register FunctionRecorder::pointerArithmetic(const clang::BinaryOperator *E, Register Base) {
  if (Base == None || Base == NullRegister)
    return Base;
  if (pointedRecord(E->getType()))
    return derive(Op::ElementOf, Base, E->getType(), E->getExprLoc());
  if (!isBytePointer(E->getType()))
    return Base;
  const Expr *Distance = E->getLHS()->getType()->isPointerType() ? E->getRHS() : E->getLHS();
  std::optional<llvm::APSInt> Constant = Distance->getIntegerConstantExpr(Types.context());
  if (!Constant)
    return derive(Op::Wander, Base, E->getType(), E->getExprLoc());
  Step How;
  How.Delta = E->getOpcode() == clang::BO_Sub ? -Constant->getExtValue() : Constant->getExtValue();
  return derive(Op::Offset, Base, E->getType(), E->getExprLoc(), How);
}

Register FunctionRecorder::binaryValue(const clang::BinaryOperator *E) {
  if (E->isAssignmentOp())
    return assign(E);
  if (E->getOpcode() == clang::BO_Comma) {
    statement(E->getLHS());
    return value(E->getRHS());
  }
  if (E->isLogicalOp()) {
    value(E->getLHS());
    uint32_t Outer = enter(RegionKind::Branch);
    value(E->getRHS());
    leave(Outer);
    return None;
  }
  Register Left = value(E->getLHS());
  Register Right = value(E->getRHS());
  if (E->isComparisonOp())
    return None;
  bool LeftPointer = E->getLHS()->getType()->isPointerType();
  bool RightPointer = E->getRHS()->getType()->isPointerType();
  if (LeftPointer && RightPointer)
    return None;
  if (LeftPointer || RightPointer)
    return pointerArithmetic(E, LeftPointer ? Left : Right);
  return merge(Left, Right, E->getType(), E->getExprLoc());
}

Register FunctionRecorder::assign(const clang::BinaryOperator *E) {
  QualType Type = E->getLHS()->getType();
  noteAssigned(E->getLHS(), false);
  clang::SourceLocation Where = E->getOperatorLoc();
  if (E->isCompoundAssignmentOp()) {
    Register Value = value(E->getRHS());
    Place Target = place(E->getLHS());
    if (Type->isPointerType()) {
      if (!isBytePointer(Type))
        return load(Target, Type, Where);
      Register Base = load(Target, Type, Where);
      if (Base == None)
        return None;
      Register Moved = derive(Op::Wander, Base, Type, Where);
      store(Target, Moved, Type, Where);
      return Moved;
    }
    store(Target, Value, Type, Where);
    return load(Target, Type, Where);
  }
  Register Value = value(E->getRHS());
  Place Target = place(E->getLHS());
  if (!Type->isRecordType()) {
    store(Target, Value, Type, Where);
    return Value;
  }
  if (Target.Where == Place::InMemory && Target.Reg != None && Value != None) {
    Instruction &Made = emit(Op::CopyObject, Where);
    Made.A = Target.Reg;
    Made.B = Value;
    Made.Ty = Types.type(Type);
  }
  return Target.Reg;
}

Register FunctionRecorder::choose(const Expr *Cond, const Expr *True, const Expr *False,
                                  QualType Type) {
  if (Cond)
    value(Cond);
  uint32_t Outer = enter(RegionKind::Branch);
  Register Left = value(True);
  leave(Outer);
  Outer = enter(RegionKind::Branch);
  Register Right = value(False);
  leave(Outer);
  return merge(Left, Right, Type, True->getExprLoc());
}

} // namespace nvmove::scan
