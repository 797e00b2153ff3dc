// Making pieces of source: see Markers.h.
#include "frontend/Markers.h"

#include "clang/AST/Attr.h"
#include "clang/AST/Stmt.h"

using namespace clang;

namespace nvmove::plugin {

FunctionDecl *Markers::declare(llvm::StringRef Name, QualType Result,
                               llvm::ArrayRef<QualType> Types) {
  FunctionDecl *&Known = Declared[Name];
  if (Known)
    return Known;
  QualType Type = Context.getFunctionType(Result, Types, FunctionProtoType::ExtProtoInfo());
  Known =
      FunctionDecl::Create(Context, Context.getTranslationUnitDecl(), SourceLocation(),
                           SourceLocation(), &Context.Idents.get(Name), Type, nullptr, SC_Extern);
  llvm::SmallVector<ParmVarDecl *> Parameters;
  for (QualType T : Types)
    Parameters.push_back(ParmVarDecl::Create(Context, Known, SourceLocation(), SourceLocation(),
                                             nullptr, T, nullptr, SC_None, nullptr));
  Known->setParams(Parameters);
  Known->addAttr(NoThrowAttr::CreateImplicit(Context));
  return Known;
}

Expr *Markers::call(llvm::StringRef Name, QualType Result, llvm::ArrayRef<Expr *> Arguments) {
  llvm::SmallVector<QualType> Types;
  for (const Expr *E : Arguments)
    Types.push_back(E->getType());
  FunctionDecl *F = declare(Name, Result, Types);
  SourceLocation At = Arguments.back()->getBeginLoc();
  auto *Reference = DeclRefExpr::Create(Context, NestedNameSpecifierLoc(), SourceLocation(), F,
                                        /*RefersToEnclosingVariableOrCapture=*/false, At,
                                        F->getType(), VK_LValue);
  auto *Function = ImplicitCastExpr::Create(Context, Context.getPointerType(F->getType()),
                                            CK_FunctionToPointerDecay, Reference, nullptr,
                                            VK_PRValue, FPOptionsOverride());
  return CallExpr::Create(Context, Function, Arguments, Result, VK_PRValue, At,
                          FPOptionsOverride());
}

Expr *Markers::cast(Expr *E, QualType To) const {
  if (Context.hasSameType(E->getType(), To))
    return E;
  CastKind Kind = CK_IntegralCast;
  if (E->getType()->isPointerType())
    Kind = To->isPointerType() ? CK_BitCast : CK_PointerToIntegral;
  else if (To->isPointerType())
    Kind = CK_IntegralToPointer;
  return ImplicitCastExpr::Create(Context, To, Kind, E, nullptr, VK_PRValue, FPOptionsOverride());
}

Expr *Markers::number(uint64_t Value, const Expr &At) const {
  return IntegerLiteral::Create(Context, llvm::APInt(unsigned(Context.getTypeSize(word())), Value),
                                word(), At.getBeginLoc());
}

VarDecl *Markers::variable(FunctionDecl &Around, llvm::StringRef Name, Expr *Value) {
  SourceLocation At = Value->getBeginLoc();
  QualType Type = Value->getType().getUnqualifiedType();
  auto *Made = VarDecl::Create(Context, &Around, At, At, &Context.Idents.get(Name), Type,
                               Context.getTrivialTypeSourceInfo(Type, At), SC_None);
  Made->setInit(Value);
  // Not an implicit one: those are not visited, and allocations in the value have types.
  Made->addAttr(NoDebugAttr::CreateImplicit(Context));
  return Made;
}

/// ({ unsigned long scope __attribute__((cleanup(__nvm_scope_leave))) = __nvm_scope_enter(SCOPE);
///    TYPE value = VALUE; value; })
Expr *Markers::inScope(FunctionDecl &Around, Expr *Value, uint64_t Scope) {
  SourceLocation At = Value->getBeginLoc();
  VarDecl *Before =
      variable(Around, "__nvm_scope", call("__nvm_scope_enter", word(), {number(Scope, *Value)}));
  FunctionDecl *Leave =
      declare("__nvm_scope_leave", Context.VoidTy, {Context.getPointerType(word())});
  Before->addAttr(CleanupAttr::CreateImplicit(Context, Leave));
  VarDecl *Result = variable(Around, "__nvm_value", Value);
  auto *Name = DeclRefExpr::Create(Context, NestedNameSpecifierLoc(), SourceLocation(), Result,
                                   /*RefersToEnclosingVariableOrCapture=*/false, At,
                                   Result->getType(), VK_LValue);
  auto *Read = ImplicitCastExpr::Create(Context, Result->getType(), CK_LValueToRValue, Name,
                                        nullptr, VK_PRValue, FPOptionsOverride());
  auto Declare = [&](VarDecl *V) -> Stmt * {
    return new (Context) DeclStmt(DeclGroupRef(V), At, At);
  };
  auto *Body = CompoundStmt::Create(Context, {Declare(Before), Declare(Result), Read},
                                    FPOptionsOverride(), At, At);
  return new (Context) StmtExpr(Body, Result->getType(), At, At, /*TemplateDepth=*/0);
}

} // namespace nvmove::plugin
