// Calls, sizeof, atomics and statement expressions. See FunctionRecorder.h.
#include "scan/FunctionRecorder.h"

#include "clang/AST/Expr.h"
#include "clang/Basic/Builtins.h"

namespace nvmove::scan {

using namespace facts;
using clang::Expr;
using clang::QualType;

namespace {

/// True for a literal that asks fopen, fdopen or open for writing only.
bool opensForWriting(const Expr *Argument, const clang::ASTContext &Context) {
  const Expr *Bare = Argument->IgnoreParenImpCasts();
  if (const auto *Mode = llvm::dyn_cast<clang::StringLiteral>(Bare)) {
    if (Mode->getCharByteWidth() != 1 || Mode->getLength() > 8)
      return false;
    llvm::StringRef Text = Mode->getString();
    return (Text.starts_with("w") || Text.starts_with("a")) && !Text.contains('+');
  }
  if (!Bare->getType()->isIntegerType())
    return false;
  std::optional<llvm::APSInt> Flags = Bare->getIntegerConstantExpr(Context);
  return Flags && (Flags->getZExtValue() & 3) == 1; // O_ACCMODE, O_WRONLY
}

} // namespace

/// What the macros of <stdarg.h> stand for. False for any other builtin.
bool FunctionRecorder::argumentList(llvm::StringRef Builtin, const clang::CallExpr *E) {
  bool Starts = Builtin == "__builtin_va_start", Copies = Builtin == "__builtin_va_copy";
  if ((!Starts && !Copies) || E->getNumArgs() < 2)
    return Builtin == "__builtin_va_end";
  Place List{Place::InMemory, value(E->getArg(0))};
  clang::SourceLocation Where = E->getExprLoc();
  QualType Any = Types.context().VoidPtrTy;
  if (Starts)
    store(List, Out.Variadic ? Out.ParameterCount : None, Any, Where);
  else
    store(List, load({Place::InMemory, value(E->getArg(1))}, Any, Where), Any, Where);
  return true;
}

Register FunctionRecorder::call(const clang::CallExpr *E) {
  noteLibraryCall(E);
  const clang::FunctionDecl *Direct = E->getDirectCallee();
  llvm::StringRef Name = Direct && Direct->getIdentifier() ? Direct->getName() : "";
  if (Name == "__builtin_expect" || Name == "__builtin_expect_with_probability" ||
      Name == "__builtin_assume_aligned") {
    Register Value = None;
    for (unsigned I = 0; I != E->getNumArgs(); ++I) {
      Register Argument = value(E->getArg(I));
      if (I == 0)
        Value = Argument;
    }
    return Value;
  }
  if (Name == "__builtin_constant_p" || Name == "__builtin_object_size" ||
      Name == "__builtin_dynamic_object_size" || Name == "__builtin_types_compatible_p")
    return None;
  if (argumentList(Name, E))
    return None;
  Register Callee = Direct ? None : value(E->getCallee());
  llvm::SmallVector<Register, 8> Arguments;
  for (const Expr *Argument : E->arguments())
    Arguments.push_back(value(Argument));
  int64_t Writing = 0;
  for (unsigned I = 0; I != std::min(E->getNumArgs(), 8u); ++I)
    if (opensForWriting(E->getArg(I), Types.context()))
      Writing |= int64_t(1) << I;
  QualType Result = E->getType();
  Register Dst = Result->isVoidType() ? None : fresh(Result);
  Instruction &Made = emit(Op::Call, E->getExprLoc());
  Made.Dst = Dst;
  Made.A = Direct ? Types.symbol(Direct) : None;
  Made.B = Callee;
  Made.Delta = Writing;
  QualType Signature = Direct ? Direct->getType() : E->getCallee()->getType();
  if (Signature->isPointerType())
    Signature = Signature->getPointeeType();
  Made.Ty = Types.type(Signature);
  Made.FirstArgument = static_cast<uint32_t>(Out.Arguments.size());
  Made.ArgumentCount = static_cast<uint16_t>(std::min<size_t>(Arguments.size(), UINT16_MAX));
  Out.Arguments.insert(Out.Arguments.end(), Arguments.begin(),
                       Arguments.begin() + Made.ArgumentCount);
  return Dst;
}

Register FunctionRecorder::sizeOf(const clang::UnaryExprOrTypeTraitExpr *E) {
  if (E->getKind() != clang::UETT_SizeOf)
    return None;
  QualType Measured = E->getTypeOfArgument().getCanonicalType();
  while (const clang::ArrayType *Array = Types.context().getAsArrayType(Measured))
    Measured = Array->getElementType().getCanonicalType();
  const auto *Record = Measured->getAs<clang::RecordType>();
  if (!Record)
    return None;
  Register Size = fresh(QualType());
  TypeId Type = Types.type(Measured);
  Instruction &Made = emit(Op::SizeOf, E->getExprLoc());
  Made.Dst = Size;
  Made.Ty = Type;
  return Size;
}

Register FunctionRecorder::offsetOf(const clang::OffsetOfExpr *E) {
  QualType Outer = E->getTypeSourceInfo()->getType();
  if (!Outer->isRecordType())
    return None;
  Register Size = fresh(QualType());
  TypeId Type = Types.type(Outer);
  Instruction &Made = emit(Op::SizeOf, E->getExprLoc());
  Made.Dst = Size;
  Made.Ty = Type;
  return Size;
}

/// Every atomic builtin both reads its object and stores its operand; more than happens is
/// harmless.
Register FunctionRecorder::atomic(const clang::AtomicExpr *E) {
  Register Address = value(E->getPtr());
  Place Target{Place::InMemory, Address};
  QualType Type = E->getPtr()->getType()->getPointeeType().getUnqualifiedType();
  if (const auto *Atomic = Type->getAs<clang::AtomicType>())
    Type = Atomic->getValueType();
  for (unsigned I = 1; I < E->getNumSubExprs(); ++I) {
    Register Operand = value(E->getSubExprs()[I]);
    if (Operand != None && Operand != NullRegister &&
        E->getSubExprs()[I]->getType()->isPointerType() == Type->isPointerType())
      store(Target, Operand, Type, E->getExprLoc());
  }
  bool OnlyLoads = E->getOp() == clang::AtomicExpr::AO__c11_atomic_load ||
                   E->getOp() == clang::AtomicExpr::AO__atomic_load ||
                   E->getOp() == clang::AtomicExpr::AO__atomic_load_n;
  if (!OnlyLoads && !Type->isPointerType())
    store(Target, None, Type, E->getExprLoc());
  return load(Target, Type, E->getExprLoc());
}

Register FunctionRecorder::statementExpression(const clang::StmtExpr *E) {
  const clang::CompoundStmt *Block = E->getSubStmt();
  Register Result = None;
  for (const clang::Stmt *S : Block->body()) {
    const auto *Last = llvm::dyn_cast<Expr>(S);
    if (Last && S == Block->body_back())
      Result = value(Last);
    else
      statement(S);
  }
  return Result;
}

} // namespace nvmove::scan
