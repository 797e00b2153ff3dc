// Expressions: places, and which kind of value each one has. See FunctionRecorder.h.
#include "scan/FunctionRecorder.h"

#include "clang/AST/ExprCXX.h"

namespace nvmove::scan {

using namespace facts;
using clang::Expr;
using clang::QualType;

Register FunctionRecorder::derive(Op Code, Register A, QualType Type, clang::SourceLocation Where,
                                  const Step &How) {
  Register *Slot = nullptr;
  if (Static) {
    Slot = &Derived.try_emplace({Code, A, How.B, How.Ty, How.Delta}, None).first->second;
    if (*Slot != None)
      return *Slot;
  }
  Register Dst = fresh(Type);
  Instruction &Made = emit(Code, Where);
  Made.Dst = Dst;
  Made.A = A;
  Made.B = How.B;
  Made.Ty = How.Ty;
  Made.Delta = How.Delta;
  Made.Implicit = How.Implicit;
  if (Slot)
    *Slot = Dst;
  return Dst;
}

Register FunctionRecorder::fieldAddress(Register Base, const clang::FieldDecl *Field,
                                        clang::SourceLocation Where) {
  clang::ASTContext &Context = Types.context();
  Step How;
  How.B = TypeTable::fieldIndex(Field);
  How.Ty = Types.type(Context.getRecordType(Field->getParent()));
  How.Delta = static_cast<int64_t>(Types.fieldOffset(Field));
  return derive(Op::FieldOf, Base, Context.getPointerType(Field->getType()), Where, How);
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
  if ((Value == None || Value == NullRegister) && !Pointer && Static)
    return; // Where a variable begins, numbers say nothing.
  if (Static && !Stored.insert({To.Reg, Value}).second)
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
    return {Place::InMemory,
            derive(Op::ElementOf, Base, Subscript->getBase()->getType(), E->getExprLoc())};
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
  return {Place::InMemory, fieldAddress(Base, Field, E->getMemberLoc())};
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
  if (const auto *Next = llvm::dyn_cast<clang::VAArgExpr>(E))
    return load({Place::InMemory, value(Next->getSubExpr())}, E->getType(), E->getExprLoc());
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

} // namespace nvmove::scan
