// Records one function body (or one static initialiser) as facts::Instructions.
//
// Expressions are evaluated as in an interpreter that knows no numbers: value() gives the register
// that holds what an rvalue may point to or carry, place() where an lvalue lives. An automatic
// scalar whose address is never taken is a register; every other variable is a Symbol in memory.
// A struct-typed value is represented by the address of some object holding it. Subscripts and
// arithmetic on typed pointers stay at the same address: an array is its first element. Arithmetic
// on char pointers is Offset (known distance) or Wander.
//
// Arguments beyond the named ones are one value, which va_start stores in the list and va_arg
// loads.
//
// Not modelled: inline assembly, setjmp, computed gotos.
#pragma once

#include "scan/TypeTable.h"

#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/DenseSet.h"

#include <map>
#include <set>
#include <tuple>

namespace nvmove::scan {

/// The operands of an Instruction besides A.
struct Step {
  uint32_t B = facts::None;
  facts::TypeId Ty = facts::None;
  int64_t Delta = 0;
  bool Implicit = false;
};

class FunctionRecorder {
public:
  FunctionRecorder(TypeTable &Types, facts::Function &Out);

  void recordBody(const clang::FunctionDecl *Function);
  void recordAlias(const clang::FunctionDecl *Alias, const clang::FunctionDecl *Meant);
  /// Stores of the initialiser of a variable with static storage.
  void recordInitialiser(const clang::VarDecl *Variable);

private:
  using Register = facts::Register;

  /// Where an lvalue lives.
  struct Place {
    enum Kind { Nowhere, InRegister, InMemory } Where = Nowhere;
    Register Reg = facts::None; ///< InRegister: the variable itself. InMemory: its address.
  };

  // Statements (RecordStatements.cpp)
  void statement(const clang::Stmt *S);
  void block(const clang::CompoundStmt *Block);
  void declaration(const clang::VarDecl *Variable);
  void loop(const clang::Stmt *Init, const clang::Expr *Cond, const clang::Stmt *Step,
            const clang::Stmt *Body);
  void emptied(const clang::Expr *Cond);
  void conditional(const clang::IfStmt *If);
  void branch(const clang::Stmt *S);
  void cases(const clang::Stmt *Body);
  void initialise(Place Target, const clang::Expr *Init, clang::QualType Type);
  void initialiseList(Place Target, const clang::InitListExpr *List, clang::QualType Type);
  void findAddressTaken(const clang::Stmt *Root);

  // Expressions (RecordExpressions.cpp, RecordArithmetic.cpp, RecordCalls.cpp)
  Register value(const clang::Expr *E);
  Register compute(const clang::Expr *E);
  Register castValue(const clang::CastExpr *E);
  Register unaryValue(const clang::UnaryOperator *E);
  Register binaryValue(const clang::BinaryOperator *E);
  Register pointerArithmetic(const clang::BinaryOperator *E, Register Base);
  Register assign(const clang::BinaryOperator *E);
  Register choose(const clang::Expr *Cond, const clang::Expr *True, const clang::Expr *False,
                  clang::QualType Type);
  Register call(const clang::CallExpr *E);
  void callFunction(const clang::FunctionDecl *Callee, Register Result, size_t FirstArgument,
                    clang::SourceLocation Where);
  bool argumentList(llvm::StringRef Builtin, const clang::CallExpr *E);
  Register sizeOf(const clang::UnaryExprOrTypeTraitExpr *E);
  Register offsetOf(const clang::OffsetOfExpr *E);
  Register atomic(const clang::AtomicExpr *E);
  Register statementExpression(const clang::StmtExpr *E);
  Place place(const clang::Expr *E);
  Place memberPlace(const clang::MemberExpr *E);
  Place variablePlace(const clang::ValueDecl *Decl);
  Register load(Place From, clang::QualType Type, clang::SourceLocation Where);
  void store(Place To, Register Value, clang::QualType Type, clang::SourceLocation Where);
  Register addressOfSymbol(facts::SymbolId Symbol, clang::SourceLocation Where);
  Register materialise(const clang::Expr *E);

  /// Emits what computes a register of \p Type from \p A alone. In static initialisers, which have
  /// no order, the same is computed once: a generated table costs one row, not a million.
  Register derive(facts::Op Code, Register A, clang::QualType Type, clang::SourceLocation Where,
                  const Step &How = {});
  Register fieldAddress(Register Base, const clang::FieldDecl *Field, clang::SourceLocation Where);

  // What the paper's algorithm wants to know (RecordAssignments.cpp)
  void noteAssigned(const clang::Expr *Target, bool ByLibrary);
  void noteDeclared(const clang::VarDecl *Variable);
  void noteLibraryCall(const clang::CallExpr *E);
  void noteType(clang::QualType Type, clang::SourceLocation Where, bool ByLibrary, bool ByInit);

  Register fresh(clang::QualType Type);
  facts::Instruction &emit(facts::Op Code, clang::SourceLocation Where);
  Register merge(Register A, Register B, clang::QualType Type, clang::SourceLocation Where);
  uint32_t enter(facts::RegionKind Kind);
  void leave(uint32_t Outer) { Region = Outer; }

  TypeTable &Types;
  facts::Function &Out;
  uint32_t Region = 0;
  bool Static = false; ///< Within the initialiser of a variable with static storage.
  std::map<std::tuple<facts::Op, Register, uint32_t, facts::TypeId, int64_t>, Register> Derived;
  llvm::DenseSet<std::pair<Register, Register>> Stored;    ///< Address and value, while Static.
  std::set<std::tuple<facts::RecordId, bool, bool>> Noted; ///< What Out.Assignments has.
  llvm::DenseMap<const clang::VarDecl *, Register> Variables;
  llvm::DenseMap<const clang::Expr *, Register> Opaque;
  llvm::DenseMap<facts::SymbolId, Register> Addresses;
  llvm::DenseSet<const clang::VarDecl *> AddressTaken;
};

} // namespace nvmove::scan
