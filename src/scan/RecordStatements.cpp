// Statements, declarations and initialisers. See FunctionRecorder.h.
#include "scan/FunctionRecorder.h"

#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

namespace nvmove::scan {

using namespace facts;
using clang::QualType;

FunctionRecorder::FunctionRecorder(TypeTable &Types, facts::Function &Out)
    : Types(Types), Out(Out) {
  if (Out.Regions.empty())
    Out.Regions.push_back({});
}

Register FunctionRecorder::fresh(QualType Type) {
  Out.Registers.push_back(Type.isNull() ? None : Types.type(Type));
  return static_cast<Register>(Out.Registers.size() - 1);
}

Instruction &FunctionRecorder::emit(Op Code, clang::SourceLocation Where) {
  Instruction &Made = Out.Body.emplace_back();
  Made.Code = Code;
  Made.Region = Region;
  Made.Where = Types.location(Where);
  return Made;
}

uint32_t FunctionRecorder::enter(RegionKind Kind) {
  uint32_t Outer = Region;
  Out.Regions.push_back({Kind, Outer});
  Region = static_cast<uint32_t>(Out.Regions.size() - 1);
  return Outer;
}

void FunctionRecorder::findAddressTaken(const clang::Stmt *Root) {
  llvm::SmallVector<const clang::Stmt *, 64> Open = {Root};
  while (!Open.empty()) {
    const clang::Stmt *S = Open.pop_back_val();
    if (!S)
      continue;
    if (const auto *Unary = llvm::dyn_cast<clang::UnaryOperator>(S);
        Unary && Unary->getOpcode() == clang::UO_AddrOf)
      if (const auto *Ref = llvm::dyn_cast<clang::DeclRefExpr>(Unary->getSubExpr()->IgnoreParens()))
        if (const auto *Variable = llvm::dyn_cast<clang::VarDecl>(Ref->getDecl()))
          AddressTaken.insert(Variable);
    if (const auto *Declared = llvm::dyn_cast<clang::DeclStmt>(S))
      for (const clang::Decl *D : Declared->decls())
        if (D->hasAttr<clang::CleanupAttr>())
          AddressTaken.insert(llvm::cast<clang::VarDecl>(D));
    llvm::append_range(Open, S->children());
  }
}

void FunctionRecorder::recordBody(const clang::FunctionDecl *Function) {
  Out.Symbol = Types.symbol(Function);
  Out.ParameterCount = Function->getNumParams();
  Out.Variadic = Function->isVariadic();
  Out.Result = Types.type(Function->getReturnType());
  findAddressTaken(Function->getBody());
  for (const clang::ParmVarDecl *Parameter : Function->parameters())
    Variables[Parameter] = fresh(Parameter->getType());
  if (Out.Variadic)
    fresh(Types.context().VoidPtrTy); // What is passed beyond them.
  for (const clang::ParmVarDecl *Parameter : Function->parameters()) {
    if (!AddressTaken.contains(Parameter) || Parameter->getType()->isRecordType())
      continue;
    Place Home = variablePlace(Parameter);
    store(Home, Variables[Parameter], Parameter->getType(), Parameter->getLocation());
  }
  statement(Function->getBody());
}

/// A name given to another function by attribute is a function that calls it.
void FunctionRecorder::recordAlias(const clang::FunctionDecl *Alias,
                                   const clang::FunctionDecl *Meant) {
  Out.Symbol = Types.symbol(Alias);
  Out.ParameterCount = Alias->getNumParams();
  Out.Result = Types.type(Alias->getReturnType());
  for (const clang::ParmVarDecl *Parameter : Alias->parameters())
    Out.Arguments.push_back(fresh(Parameter->getType()));
  Register Result = Alias->getReturnType()->isVoidType() ? None : fresh(Alias->getReturnType());
  callFunction(Meant, Result, 0, Alias->getLocation());
  emit(Op::Return, Alias->getLocation()).A = Result;
}

/// Emits a direct call whose arguments are the ones from \p FirstArgument on.
void FunctionRecorder::callFunction(const clang::FunctionDecl *Callee, Register Result,
                                    size_t FirstArgument, clang::SourceLocation Where) {
  Instruction &Made = emit(Op::Call, Where);
  Made.Dst = Result;
  Made.A = Types.symbol(Callee);
  Made.Ty = Types.type(Callee->getType());
  Made.FirstArgument = static_cast<uint32_t>(FirstArgument);
  Made.ArgumentCount = static_cast<uint16_t>(Out.Arguments.size() - FirstArgument);
  Made.Implicit = Result == None;
}

void FunctionRecorder::recordInitialiser(const clang::VarDecl *Variable) {
  if (!Types.holdsPointers(Variable->getType()))
    return;
  llvm::SaveAndRestore Restore(Static, true);
  Place Target{Place::InMemory, addressOfSymbol(Types.symbol(Variable), Variable->getLocation())};
  initialise(Target, Variable->getInit(), Variable->getType());
}

namespace {

/// True when a break of this loop, or a goto, may leave it.
bool leavesLoop(const clang::Stmt *S) {
  if (!S)
    return false;
  if (llvm::isa<clang::BreakStmt>(S) || llvm::isa<clang::GotoStmt>(S) ||
      llvm::isa<clang::IndirectGotoStmt>(S))
    return true;
  bool Inner = llvm::isa<clang::WhileStmt>(S) || llvm::isa<clang::DoStmt>(S) ||
               llvm::isa<clang::ForStmt>(S) || llvm::isa<clang::SwitchStmt>(S);
  if (Inner) // Its breaks are its own.
    return false;
  return llvm::any_of(S->children(), leavesLoop);
}

} // namespace

void FunctionRecorder::loop(const clang::Stmt *Init, const clang::Expr *Cond,
                            const clang::Stmt *Step, const clang::Stmt *Body) {
  statement(Init);
  uint32_t Outer = enter(RegionKind::Loop);
  if (Cond)
    value(Cond);
  statement(Body);
  statement(Step);
  leave(Outer);
  if (Cond && !leavesLoop(Body))
    emptied(Cond);
}

/// A loop "while (list)" that is left no other way has made the variable null: a store says so.
void FunctionRecorder::emptied(const clang::Expr *Cond) {
  const clang::Expr *Tested = Cond->IgnoreParenImpCasts();
  if (const auto *Binary = llvm::dyn_cast<clang::BinaryOperator>(Tested)) {
    auto IsNull = [&](const clang::Expr *E) {
      return E->isNullPointerConstant(Types.context(), clang::Expr::NPC_ValueDependentIsNotNull);
    };
    if (Binary->getOpcode() == clang::BO_NE && IsNull(Binary->getRHS()))
      return emptied(Binary->getLHS());
    if (Binary->getOpcode() == clang::BO_NE && IsNull(Binary->getLHS()))
      return emptied(Binary->getRHS());
    if (Binary->getOpcode() == clang::BO_Assign) // while ((t = list))
      emptied(Binary->getRHS());
    return;
  }
  bool Named = llvm::isa<clang::DeclRefExpr>(Tested) || llvm::isa<clang::MemberExpr>(Tested);
  if (!Named || !Tested->isLValue() || !Tested->getType()->isPointerType())
    return;
  if (Place At = place(Tested); At.Where == Place::InMemory)
    store(At, facts::NullRegister, Tested->getType(), Tested->getExprLoc());
}

void FunctionRecorder::branch(const clang::Stmt *S) {
  if (!S)
    return;
  uint32_t Outer = enter(RegionKind::Branch);
  statement(S);
  leave(Outer);
}

/// Generated code has else-if chains of thousands of links: no recursion along them.
void FunctionRecorder::conditional(const clang::IfStmt *If) {
  uint32_t Outer = Region;
  value(If->getCond());
  branch(If->getThen());
  const clang::Stmt *Else = If->getElse();
  while ((If = llvm::dyn_cast_or_null<clang::IfStmt>(Else))) {
    enter(RegionKind::Branch);
    value(If->getCond());
    branch(If->getThen());
    Else = If->getElse();
  }
  branch(Else);
  leave(Outer);
}

/// Each case is a branch of its own: an exit in one of them says nothing about the others.
void FunctionRecorder::cases(const clang::Stmt *Body) {
  const auto *Block = llvm::dyn_cast_or_null<clang::CompoundStmt>(Body);
  if (!Block)
    return branch(Body);
  uint32_t Outer = enter(RegionKind::Branch), Whole = Region;
  for (const clang::Stmt *Each : Block->body()) {
    if (llvm::isa<clang::SwitchCase>(Each)) {
      leave(Whole);
      enter(RegionKind::Branch);
    }
    statement(Each);
  }
  leave(Outer);
}

void FunctionRecorder::statement(const clang::Stmt *S) {
  if (!S)
    return;
  if (const auto *E = llvm::dyn_cast<clang::Expr>(S)) {
    size_t Before = Out.Body.size();
    value(E);
    // The outermost call of an expression statement: nobody uses its result.
    const clang::Expr *Bare = E->IgnoreParenCasts();
    if (llvm::isa<clang::CallExpr>(Bare) && Out.Body.size() > Before &&
        Out.Body.back().Code == Op::Call)
      Out.Body.back().Implicit = true;
    return;
  }
  switch (S->getStmtClass()) {
  case clang::Stmt::DeclStmtClass:
    for (const clang::Decl *D : llvm::cast<clang::DeclStmt>(S)->decls())
      if (const auto *Variable = llvm::dyn_cast<clang::VarDecl>(D))
        declaration(Variable);
    return;
  case clang::Stmt::CompoundStmtClass:
    return block(llvm::cast<clang::CompoundStmt>(S));
  case clang::Stmt::ReturnStmtClass: {
    const auto *Return = llvm::cast<clang::ReturnStmt>(S);
    Register Value = Return->getRetValue() ? value(Return->getRetValue()) : None;
    facts::Instruction &Made = emit(Op::Return, S->getBeginLoc());
    Made.A = Value;
    clang::Expr::EvalResult Constant;
    if (const clang::Expr *Given = Return->getRetValue();
        Given && Given->getType()->isIntegerType() && !Given->isValueDependent() &&
        Given->EvaluateAsInt(Constant, Types.context()) &&
        Constant.Val.getInt().getSignificantBits() <= 64) {
      Made.Implicit = true;
      Made.Delta = Constant.Val.getInt().getExtValue();
    }
    return;
  }
  case clang::Stmt::IfStmtClass:
    return conditional(llvm::cast<clang::IfStmt>(S));
  case clang::Stmt::WhileStmtClass: {
    const auto *While = llvm::cast<clang::WhileStmt>(S);
    return loop(nullptr, While->getCond(), nullptr, While->getBody());
  }
  case clang::Stmt::DoStmtClass: {
    const auto *Do = llvm::cast<clang::DoStmt>(S);
    // do { } while (0) is how macros make statements: it runs once.
    if (std::optional<llvm::APSInt> Constant =
            Do->getCond()->getIntegerConstantExpr(Types.context());
        Constant && *Constant == 0)
      return statement(Do->getBody());
    return loop(nullptr, Do->getCond(), nullptr, Do->getBody());
  }
  case clang::Stmt::ForStmtClass: {
    const auto *For = llvm::cast<clang::ForStmt>(S);
    return loop(For->getInit(), For->getCond(), For->getInc(), For->getBody());
  }
  case clang::Stmt::SwitchStmtClass: {
    const auto *Switch = llvm::cast<clang::SwitchStmt>(S);
    value(Switch->getCond());
    return cases(Switch->getBody());
  }
  default:
    for (const clang::Stmt *Child : S->children())
      statement(Child);
  }
}

/// At the end of a block the functions are called that its variables name as their cleanup.
namespace {

/// What a label stands before.
const clang::Stmt *unlabelled(const clang::Stmt *S) {
  while (const auto *Label = llvm::dyn_cast_or_null<clang::LabelStmt>(S))
    S = Label->getSubStmt();
  return S;
}

bool jumps(const clang::Stmt *S) {
  return S && (llvm::isa<clang::GotoStmt>(S) || llvm::isa<clang::IndirectGotoStmt>(S));
}

} // namespace

/// What stands between a goto and a later label that no run falls into is reached by some runs
/// only: a branch. The last such part is the common end, or the error exit that returns.
void FunctionRecorder::block(const clang::CompoundStmt *Block) {
  const clang::Stmt *Before = nullptr, *LastPart = nullptr;
  auto Begins = [&](const clang::Stmt *S) {
    return llvm::isa<clang::LabelStmt>(S) && Before &&
           (jumps(Before) || llvm::isa<clang::ReturnStmt>(Before));
  };
  for (const clang::Stmt *S : Block->body()) {
    LastPart = Begins(S) ? S : LastPart;
    Before = unlabelled(S);
  }
  uint32_t Outer = Region;
  Before = nullptr;
  for (const clang::Stmt *S : Block->body()) {
    if (Begins(S)) {
      leave(Outer);
      if (jumps(Before) && S != LastPart)
        enter(RegionKind::Branch);
    }
    statement(S);
    Before = unlabelled(S);
  }
  leave(Outer);
  for (const clang::Stmt *S : Block->body())
    if (const auto *Declared = llvm::dyn_cast<clang::DeclStmt>(S))
      for (const clang::Decl *D : Declared->decls())
        if (const auto *Cleanup = D->getAttr<clang::CleanupAttr>()) {
          Place Variable = variablePlace(llvm::cast<clang::VarDecl>(D));
          Out.Arguments.push_back(Variable.Reg);
          callFunction(Cleanup->getFunctionDecl(), None, Out.Arguments.size() - 1,
                       Block->getRBracLoc());
        }
}

void FunctionRecorder::declaration(const clang::VarDecl *Variable) {
  if (Variable->isStaticLocal()) {
    if (Variable->hasInit())
      recordInitialiser(Variable);
    return;
  }
  if (!Variable->hasInit() || Variable->hasExternalStorage())
    return;
  noteDeclared(Variable);
  initialise(variablePlace(Variable), Variable->getInit(), Variable->getType());
}

void FunctionRecorder::initialise(Place Target, const clang::Expr *Init, QualType Type) {
  const clang::Expr *Bare = Init->IgnoreParens();
  if (const auto *List = llvm::dyn_cast<clang::InitListExpr>(Bare))
    return initialiseList(Target, List, Type);
  if (const auto *Literal = llvm::dyn_cast<clang::CompoundLiteralExpr>(Bare->IgnoreImpCasts());
      Literal && Type->isAggregateType())
    return initialise(Target, Literal->getInitializer(), Type);
  if (llvm::isa<clang::ImplicitValueInitExpr, clang::StringLiteral>(Bare))
    return;
  Register Value = value(Init);
  if (!Type->isRecordType())
    return store(Target, Value, Type, Init->getExprLoc());
  if (Value == None || Target.Where != Place::InMemory)
    return;
  Instruction &Made = emit(Op::CopyObject, Init->getExprLoc());
  Made.A = Target.Reg;
  Made.B = Value;
  Made.Ty = Types.type(Type);
}

void FunctionRecorder::initialiseList(Place Target, const clang::InitListExpr *List,
                                      QualType Type) {
  if (const clang::InitListExpr *Semantic = List->getSemanticForm())
    List = Semantic;
  if (List->isTransparent() || (!Type->isArrayType() && !Type->isRecordType())) {
    if (List->getNumInits())
      initialise(Target, List->getInit(0), Type);
    return;
  }
  if (Target.Where != Place::InMemory)
    return;
  if (const clang::ArrayType *Array = Types.context().getAsArrayType(Type)) {
    for (const clang::Expr *Element : List->inits())
      if (Element)
        initialise(Target, Element, Array->getElementType());
    return;
  }
  const clang::RecordDecl *Record = Type->castAs<clang::RecordType>()->getDecl();
  auto InitialiseField = [&](const clang::FieldDecl *Field, const clang::Expr *Init) {
    Register Address = fieldAddress(Target.Reg, Field, Init->getExprLoc());
    initialise({Place::InMemory, Address}, Init, Field->getType());
  };
  if (Record->isUnion()) {
    if (List->getNumInits() && List->getInitializedFieldInUnion())
      InitialiseField(List->getInitializedFieldInUnion(), List->getInit(0));
    return;
  }
  unsigned Index = 0;
  for (const clang::FieldDecl *Field : Record->getDefinition()->fields()) {
    if (Field->isUnnamedBitField())
      continue;
    if (Index >= List->getNumInits())
      break;
    const clang::Expr *Init = List->getInit(Index++);
    if (Init && !llvm::isa<clang::ImplicitValueInitExpr>(Init))
      InitialiseField(Field, Init);
  }
}

} // namespace nvmove::scan
