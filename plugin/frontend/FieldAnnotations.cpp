// Annotations that the compiler adds: see FieldAnnotations.h.
#include "frontend/FieldAnnotations.h"

#include "frontend/Deciders.h"

#include "clang/AST/Attr.h"
#include "clang/AST/Expr.h"

using namespace clang;

namespace nvmove::plugin {
namespace {

/// As the arguments of an attribute in the source are: evaluated, for the code generator.
Expr *constant(ASTContext &Context, Expr *E) {
  Expr::EvalResult Value;
  [[maybe_unused]] bool Known = E->EvaluateAsRValue(Value, Context);
  assert(Known && "a literal has a value");
  return ConstantExpr::Create(Context, E, Value.Val);
}

} // namespace

void annotate(ASTContext &Context, FieldDecl &Field, llvm::StringRef Annotation,
              llvm::ArrayRef<Expr *> Arguments) {
  llvm::SmallVector<Expr *> Copy(Arguments);
  Field.addAttr(
      AnnotateAttr::CreateImplicit(Context, Annotation, Copy.data(), unsigned(Copy.size())));
}

Expr *number(ASTContext &Context, uint64_t Value, const FieldDecl &At) {
  QualType Type = Context.LongLongTy;
  return constant(Context, IntegerLiteral::Create(
                               Context, llvm::APInt(unsigned(Context.getTypeSize(Type)), Value),
                               Type, At.getLocation()));
}

Expr *text(ASTContext &Context, llvm::StringRef Text, const FieldDecl &At) {
  QualType Type = Context.getStringLiteralArrayType(Context.CharTy, unsigned(Text.size()));
  auto *Literal = clang::StringLiteral::Create(Context, Text, StringLiteralKind::Ordinary, false,
                                               Type, At.getLocation());
  return constant(Context, ImplicitCastExpr::Create(Context, Context.getArrayDecayedType(Type),
                                                    CK_ArrayToPointerDecay, Literal, nullptr,
                                                    VK_PRValue, FPOptionsOverride()));
}

void sizeVolatileUnions(ASTContext &Context, const RecordDecl &Record) {
  if (Record.isUnion())
    return;
  for (FieldDecl *Field : Record.fields())
    if (QualType Type = Field->getType();
        Type->isUnionType() && annotation(*Field, "nvmove.volatile"))
      annotate(Context, *Field, "nvmove.volatile",
               {number(Context, Context.getTypeSizeInChars(Type).getQuantity(), *Field)});
}

} // namespace nvmove::plugin
