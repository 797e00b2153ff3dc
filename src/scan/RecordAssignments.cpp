// The variables that a function assigns, as the paper's algorithm counts them. See
// FunctionRecorder.h and NVMOVE, section 3.
//
// An assignment to a->b.c modifies the variables a->b.c, a->b and *a: the record types of all
// three are noted. Of a library call the destination is.
#include "scan/FunctionRecorder.h"

#include "llvm/ADT/StringSwitch.h"

namespace nvmove::scan {

using namespace facts;

void FunctionRecorder::noteType(clang::QualType Type, clang::SourceLocation Where, bool ByLibrary,
                                bool ByInit) {
  clang::QualType Bare = Type.getCanonicalType();
  while (Bare->isPointerType() || Bare->isArrayType())
    Bare = Bare->isPointerType() ? Bare->getPointeeType().getCanonicalType()
                                 : clang::QualType(Bare->getArrayElementTypeNoTypeQual(), 0);
  const auto *Record = Bare->getAs<clang::RecordType>();
  if (!Record)
    return;
  facts::RecordId Id = Types.record(Record->getDecl());
  if (Noted.insert({Id, ByLibrary, ByInit}).second)
    Out.Assignments.push_back({Id, ByLibrary, ByInit, Types.location(Where)});
}

void FunctionRecorder::noteAssigned(const clang::Expr *Target, bool ByLibrary) {
  for (const clang::Expr *E = Target->IgnoreParenCasts(); E;) {
    noteType(E->getType(), Target->getExprLoc(), ByLibrary, false);
    if (const auto *Member = llvm::dyn_cast<clang::MemberExpr>(E))
      E = Member->getBase()->IgnoreParenCasts();
    else if (const auto *Subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(E))
      E = Subscript->getBase()->IgnoreParenCasts();
    else if (const auto *Unary = llvm::dyn_cast<clang::UnaryOperator>(E);
             Unary &&
             (Unary->getOpcode() == clang::UO_Deref || Unary->getOpcode() == clang::UO_AddrOf))
      E = Unary->getSubExpr()->IgnoreParenCasts();
    else
      E = nullptr;
  }
}

void FunctionRecorder::noteDeclared(const clang::VarDecl *Variable) {
  noteType(Variable->getType(), Variable->getLocation(), false, true);
}

void FunctionRecorder::noteLibraryCall(const clang::CallExpr *E) {
  const clang::FunctionDecl *Callee = E->getDirectCallee();
  if (!Callee || !Callee->getIdentifier() || E->getNumArgs() == 0)
    return;
  llvm::StringRef Name = Callee->getName();
  Name.consume_front("__builtin_");
  Name.consume_front("__");
  Name.consume_back("_chk");
  bool Writes = llvm::StringSwitch<bool>(Name)
                    .Cases("memcpy", "memmove", "mempcpy", "memset", "bcopy", true)
                    .Cases("strcpy", "strncpy", "stpcpy", "strcat", "strncat", true)
                    .Cases("sprintf", "snprintf", "vsprintf", "vsnprintf", true)
                    .Default(false);
  if (Writes)
    noteAssigned(E->getArg(Name == "bcopy" ? 1 : 0), true);
}

} // namespace nvmove::scan
