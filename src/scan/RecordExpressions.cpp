// Expressions. See FunctionRecorder.h.
#include "scan/FunctionRecorder.h"

#include "clang/AST/ExprCXX.h"

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

Register FunctionRecorder::addressOfSymbol(SymbolId Symbol, clang::SourceLocation Where) {
  auto Known = Addresses.find(Symbol);
  if (Known != Addresses.end())
    return Known->second;
  Register Address = fresh(QualType());
  Instruction &Made = emit(Op::AddressOf, Where);
  Made.Dst = Address;
  Made.A = Symbol;
  Addresses[Symbol] = Address;
  return Address;
}

FunctionRecorder::Place FunctionRecorder::variablePlace(const clang::ValueDecl *Decl) {
  const auto *Variable = llvm::dyn_cast<clang::VarDecl>(Decl);
  if (!Variable)
    return {};
  clang::SourceLocation Where = Decl->getLocation();
  bool Static = Variable->hasGlobalStorage();
  if (Static)
    return {Place::InMemory, addressOfSymbol(Types.symbol(Variable), Where)};
  bool Aggregate = Variable->getType()->isRecordType() || Variable->getType()->isArrayType();
  if (llvm::isa<clang::ParmVarDecl>(Variable) && Variable->getType()->isRecordType())
    return {Place::InMemory, Variables[Variable]};
  if (Aggregate || AddressTaken.contains(Variable))
    return {Place::InMemory, addressOfSymbol(Types.symbol(Variable, /*Local=*/true), Where)};
  auto [It, New] = Variables.try_emplace(Variable, None);
  if (New)
    It->second = fresh(Variable->getType());
  return {Place::InRegister, Variables[Variable]};
}

Register FunctionRecorder::load(Place From, QualType Type, clang::SourceLocation Where) {
  if (From.Where == Place::InRegister)
    return From.Reg;
  if (From.Where == Place::Nowhere || From.Reg == None || From.Reg == NullRegister)
    return None;
  if (Type->isRecordType() || Type->isArrayType())
    return From.Reg;
  Register Value = fresh(Type);
  Instruction &Made = emit(Op::Load, Where);
  Made.Dst = Value;
  Made.A = From.Reg;
  Made.Ty = Types.type(Type);
  return Value;
}

void FunctionRecorder::store(Place To, Register Value, QualType Type, clang::SourceLocation Where) {
  if (To.Where == Place::Nowhere || To.Reg == None || To.Reg == NullRegister)
    return;
  bool Pointer = Type->isPointerType();
  if (To.Where == Place::InRegister) {
    if (Value == None || Value == NullRegister || Value == To.Reg)
      return;
    Instruction &Made = emit(Op::Copy, Where);
    Made.Dst = To.Reg;
    Made.A = Value;
    return;
  }
  if ((Value == None || Value == NullRegister) && !Pointer)
    return;
  Instruction &Made = emit(Op::Store, Where);
  Made.A = To.Reg;
  Made.B = Value;
  Made.Ty = Types.type(Type);
}

FunctionRecorder::Place FunctionRecorder::place(const Expr *E) {
  E = E->IgnoreParens();
  if (const auto *Ref = llvm::dyn_cast<clang::DeclRefExpr>(E))
    return variablePlace(Ref->getDecl());
  if (const auto *Member = llvm::dyn_cast<clang::MemberExpr>(E))
    return memberPlace(Member);
  if (const auto *Subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(E)) {
    Register Base = value(Subscript->getBase());
    value(Subscript->getIdx());
    bool First = Subscript->getIdx()->isIntegerConstantExpr(Types.context());
    if (Base == None || Base == NullRegister || First || !E->getType()->isRecordType())
      return {Place::InMemory, Base};
    Register Element = fresh(Subscript->getBase()->getType());
    Instruction &Made = emit(Op::ElementOf, E->getExprLoc());
    Made.Dst = Element;
    Made.A = Base;
    return {Place::InMemory, Element};
  }
  if (const auto *Unary = llvm::dyn_cast<clang::UnaryOperator>(E)) {
    if (Unary->getOpcode() == clang::UO_Deref)
      return {Place::InMemory, value(Unary->getSubExpr())};
    if (Unary->getOpcode() == clang::UO_Extension || Unary->getOpcode() == clang::UO_Real ||
        Unary->getOpcode() == clang::UO_Imag)
      return place(Unary->getSubExpr());
  }
  if (const auto *Literal = llvm::dyn_cast<clang::CompoundLiteralExpr>(E))
    return {Place::InMemory, materialise(Literal)};
  if (const auto *Value = llvm::dyn_cast<clang::OpaqueValueExpr>(E);
      Value && Value->getSourceExpr())
    return place(Value->getSourceExpr());
  if (const auto *Selection = llvm::dyn_cast<clang::GenericSelectionExpr>(E))
    return place(Selection->getResultExpr());
  if (const auto *Choose = llvm::dyn_cast<clang::ChooseExpr>(E))
    return place(Choose->getChosenSubExpr());
  if (const auto *Cast = llvm::dyn_cast<clang::CastExpr>(E); Cast && E->isGLValue())
    return place(Cast->getSubExpr());
  if (E->isGLValue()) // String literals, __func__: constant memory.
    return {};
  Register Value = value(E);
  if (E->getType()->isRecordType() || E->getType()->isArrayType())
    return {Place::InMemory, Value};
  return {};
}

FunctionRecorder::Place FunctionRecorder::memberPlace(const clang::MemberExpr *E) {
  const auto *Field = llvm::dyn_cast<clang::FieldDecl>(E->getMemberDecl());
  if (!Field)
    return {};
  Register Base = None;
  if (E->isArrow())
    Base = value(E->getBase());
  else if (Place Outer = place(E->getBase()); Outer.Where == Place::InMemory)
    Base = Outer.Reg;
  if (Base == None || Base == NullRegister)
    return {};
  Register Address = fresh(Types.context().getPointerType(Field->getType()));
  TypeId Owner = Types.type(Types.context().getRecordType(Field->getParent()));
  Instruction &Made = emit(Op::FieldOf, E->getMemberLoc());
  Made.Dst = Address;
  Made.A = Base;
  Made.B = TypeTable::fieldIndex(Field);
  Made.Ty = Owner;
  Made.Delta = static_cast<int64_t>(Types.fieldOffset(Field));
  return {Place::InMemory, Address};
}

/// A compound literal's own storage.
Register FunctionRecorder::materialise(const Expr *E) {
  const auto *Literal = llvm::cast<clang::CompoundLiteralExpr>(E);
  auto Known = Opaque.find(Literal);
  if (Known != Opaque.end())
    return Known->second;
  // Its object has no declaration: a nameless local symbol stands for it.
  Register Address = fresh(Types.context().getPointerType(E->getType()));
  Instruction &Made = emit(Op::AddressOf, E->getExprLoc());
  Made.Dst = Address;
  Made.A = Types.temporary(E->getType(), E->getExprLoc());
  Opaque[Literal] = Address;
  initialise({Place::InMemory, Address}, Literal->getInitializer(), E->getType());
  return Address;
}

Register FunctionRecorder::value(const Expr *E) {
  E = E->IgnoreParens();
  if (E->getType()->isPointerType() && !E->isValueDependent() &&
      E->isNullPointerConstant(Types.context(), Expr::NPC_NeverValueDependent))
    return NullRegister;
  return compute(E);
}

Register FunctionRecorder::compute(const Expr *E) {
  if (E->isGLValue() && !E->getType()->isFunctionType())
    return load(place(E), E->getType(), E->getExprLoc());
  if (const auto *Cast = llvm::dyn_cast<clang::CastExpr>(E))
    return castValue(Cast);
  if (const auto *Unary = llvm::dyn_cast<clang::UnaryOperator>(E))
    return unaryValue(Unary);
  if (const auto *Binary = llvm::dyn_cast<clang::BinaryOperator>(E))
    return binaryValue(Binary);
  if (const auto *Call = llvm::dyn_cast<clang::CallExpr>(E))
    return call(Call);
  if (const auto *Choice = llvm::dyn_cast<clang::ConditionalOperator>(E))
    return choose(Choice->getCond(), Choice->getTrueExpr(), Choice->getFalseExpr(), E->getType());
  if (const auto *Choice = llvm::dyn_cast<clang::BinaryConditionalOperator>(E))
    return choose(nullptr, Choice->getCommon(), Choice->getFalseExpr(), E->getType());
  if (const auto *Ref = llvm::dyn_cast<clang::DeclRefExpr>(E)) {
    if (const auto *Function = llvm::dyn_cast<clang::FunctionDecl>(Ref->getDecl()))
      return addressOfSymbol(Types.symbol(Function), E->getExprLoc());
    return None;
  }
  if (const auto *Trait = llvm::dyn_cast<clang::UnaryExprOrTypeTraitExpr>(E))
    return sizeOf(Trait);
  if (const auto *Distance = llvm::dyn_cast<clang::OffsetOfExpr>(E))
    return offsetOf(Distance);
  if (const auto *Block = llvm::dyn_cast<clang::StmtExpr>(E))
    return statementExpression(Block);
  if (const auto *Atomic = llvm::dyn_cast<clang::AtomicExpr>(E))
    return atomic(Atomic);
  if (const auto *Full = llvm::dyn_cast<clang::FullExpr>(E))
    return value(Full->getSubExpr());
  if (const auto *Selection = llvm::dyn_cast<clang::GenericSelectionExpr>(E))
    return value(Selection->getResultExpr());
  if (const auto *Choose = llvm::dyn_cast<clang::ChooseExpr>(E))
    return value(Choose->getChosenSubExpr());
  if (const auto *Opaqued = llvm::dyn_cast<clang::OpaqueValueExpr>(E))
    return Opaqued->getSourceExpr() ? value(Opaqued->getSourceExpr()) : None;
  if (const auto *List = llvm::dyn_cast<clang::InitListExpr>(E)) {
    for (const Expr *Init : List->inits())
      value(Init);
    return None;
  }
  for (const clang::Stmt *Child : E->children())
    if (const auto *Sub = llvm::dyn_cast_or_null<Expr>(Child))
      value(Sub);
  return None;
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
  Register Cast = fresh(E->getType());
  Instruction &Made = emit(Op::Cast, E->getExprLoc());
  Made.Dst = Cast;
  Made.A = Value;
  Made.Ty = Types.type(E->getType());
  Made.Implicit = llvm::isa<clang::ImplicitCastExpr>(E);
  return Cast;
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
    return load(Target, Sub->getType(), E->getExprLoc());
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
  if (pointedRecord(E->getType())) {
    Register Element = fresh(E->getType());
    Instruction &Made = emit(Op::ElementOf, E->getExprLoc());
    Made.Dst = Element;
    Made.A = Base;
    return Element;
  }
  if (!isBytePointer(E->getType()))
    return Base;
  const Expr *Distance = E->getLHS()->getType()->isPointerType() ? E->getRHS() : E->getLHS();
  std::optional<llvm::APSInt> Constant = Distance->getIntegerConstantExpr(Types.context());
  Register Moved = fresh(E->getType());
  Instruction &Made = emit(Constant ? Op::Offset : Op::Wander, E->getExprLoc());
  Made.Dst = Moved;
  Made.A = Base;
  if (Constant)
    Made.Delta =
        E->getOpcode() == clang::BO_Sub ? -Constant->getExtValue() : Constant->getExtValue();
  return Moved;
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
      Register Moved = fresh(Type);
      Instruction &Made = emit(Op::Wander, Where);
      Made.Dst = Moved;
      Made.A = Base;
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
