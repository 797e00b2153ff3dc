// See Visitor.h.
#include "frontend/Visitor.h"

#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace nvmove::plugin {

namespace {

class Walker : public RecursiveASTVisitor<Walker> {
public:
  explicit Walker(Visitor &To) : To(To) {}

  bool shouldVisitTemplateInstantiations() const { return To.shouldVisitTemplateInstantiations(); }

  bool TraverseFunctionDecl(FunctionDecl *F) {
    return To.TraverseFunctionDecl(F, [&] { return RecursiveASTVisitor::TraverseFunctionDecl(F); });
  }

  bool VisitDecl(Decl *Node) { return To.VisitDecl(Node); }
  bool VisitRecordDecl(RecordDecl *Node) { return To.VisitRecordDecl(Node); }
  bool VisitFunctionDecl(FunctionDecl *Node) { return To.VisitFunctionDecl(Node); }
  bool VisitFunctionTemplateDecl(FunctionTemplateDecl *Node) {
    return To.VisitFunctionTemplateDecl(Node);
  }
  bool VisitVarDecl(VarDecl *Node) { return To.VisitVarDecl(Node); }
  bool VisitCallExpr(CallExpr *Node) { return To.VisitCallExpr(Node); }
  bool VisitCXXConstructExpr(CXXConstructExpr *Node) { return To.VisitCXXConstructExpr(Node); }
  bool VisitDeclRefExpr(DeclRefExpr *Node) { return To.VisitDeclRefExpr(Node); }
  bool VisitBinaryOperator(BinaryOperator *Node) { return To.VisitBinaryOperator(Node); }
  bool VisitMemberExpr(MemberExpr *Node) { return To.VisitMemberExpr(Node); }
  bool VisitUnaryOperator(UnaryOperator *Node) { return To.VisitUnaryOperator(Node); }
  bool VisitImplicitCastExpr(ImplicitCastExpr *Node) { return To.VisitImplicitCastExpr(Node); }
  bool VisitInitListExpr(InitListExpr *Node) { return To.VisitInitListExpr(Node); }
  bool VisitReturnStmt(ReturnStmt *Node) { return To.VisitReturnStmt(Node); }
  bool VisitCStyleCastExpr(CStyleCastExpr *Node) { return To.VisitCStyleCastExpr(Node); }
  bool VisitAtomicExpr(AtomicExpr *Node) { return To.VisitAtomicExpr(Node); }

private:
  Visitor &To;
};

} // namespace

Visitor::~Visitor() = default;

void Visitor::traverse(Decl *D) { Walker(*this).TraverseDecl(D); }

} // namespace nvmove::plugin
