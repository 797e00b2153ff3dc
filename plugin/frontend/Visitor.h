// Who looks at each declaration and statement of a source. clang::RecursiveASTVisitor is a template
// whose instantiation takes a compiler longer than anything else in this room: there is one, and it
// calls what a Visitor overrides. The names are clang's; what is not listed here is not called.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace clang {
class AtomicExpr;
class BinaryOperator;
class CStyleCastExpr;
class CXXConstructExpr;
class CallExpr;
class Decl;
class DeclRefExpr;
class FunctionDecl;
class FunctionTemplateDecl;
class ImplicitCastExpr;
class InitListExpr;
class MemberExpr;
class RecordDecl;
class ReturnStmt;
class UnaryOperator;
class VarDecl;
} // namespace clang

namespace nvmove::plugin {

class Visitor {
public:
  virtual ~Visitor();

  void traverse(clang::Decl *D);

  virtual bool shouldVisitTemplateInstantiations() const { return false; }
  /// `Inside` visits it and what is in it.
  virtual bool TraverseFunctionDecl(clang::FunctionDecl *F, llvm::function_ref<bool()> Inside) {
    return Inside();
  }

  virtual bool VisitDecl(clang::Decl *) { return true; }
  virtual bool VisitRecordDecl(clang::RecordDecl *) { return true; }
  virtual bool VisitFunctionDecl(clang::FunctionDecl *) { return true; }
  virtual bool VisitFunctionTemplateDecl(clang::FunctionTemplateDecl *) { return true; }
  virtual bool VisitVarDecl(clang::VarDecl *) { return true; }
  virtual bool VisitCallExpr(clang::CallExpr *) { return true; }
  virtual bool VisitCXXConstructExpr(clang::CXXConstructExpr *) { return true; }
  virtual bool VisitDeclRefExpr(clang::DeclRefExpr *) { return true; }
  virtual bool VisitBinaryOperator(clang::BinaryOperator *) { return true; }
  virtual bool VisitMemberExpr(clang::MemberExpr *) { return true; }
  virtual bool VisitUnaryOperator(clang::UnaryOperator *) { return true; }
  virtual bool VisitImplicitCastExpr(clang::ImplicitCastExpr *) { return true; }
  virtual bool VisitInitListExpr(clang::InitListExpr *) { return true; }
  virtual bool VisitReturnStmt(clang::ReturnStmt *) { return true; }
  virtual bool VisitCStyleCastExpr(clang::CStyleCastExpr *) { return true; }
  virtual bool VisitAtomicExpr(clang::AtomicExpr *) { return true; }
};

} // namespace nvmove::plugin
