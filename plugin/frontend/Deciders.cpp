// Marks that tell a pointer from what shares its bytes: see Deciders.h.
#include "frontend/Deciders.h"

#include "port/PortFile.h"

#include "clang/AST/Attr.h"
#include "clang/AST/Expr.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Basic/Diagnostic.h"

using namespace clang;

namespace nvmove::plugin {
namespace {

void complain(ASTContext &Context, const FieldDecl &Field, llvm::StringRef What) {
  DiagnosticsEngine &Diagnostics = Context.getDiagnostics();
  unsigned Id = Diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "nvmove: field %0: %1");
  Diagnostics.Report(Field.getLocation(), Id) << &Field << What;
}

std::optional<int64_t> numberOf(ASTContext &Context, const Expr &Argument) {
  Expr::EvalResult Result;
  if (Argument.isValueDependent() || !Argument.EvaluateAsInt(Result, Context))
    return std::nullopt;
  return static_cast<int64_t>(Result.Val.getInt().extOrTrunc(64).getRawData()[0]);
}

std::string literalOf(const Expr &Argument) {
  const Expr *E = &Argument;
  if (auto *Constant = dyn_cast<ConstantExpr>(E))
    E = Constant->getSubExpr();
  auto *Text = dyn_cast<clang::StringLiteral>(E->IgnoreParenImpCasts());
  return Text ? Text->getString().str() : "";
}

/// A field of the record by name, in anonymous members too; \p Bit: where, from the record's start.
const FieldDecl *findMember(const ASTContext &Context, const RecordDecl &Record,
                            llvm::StringRef Name, uint64_t &Bit) {
  const ASTRecordLayout &Layout = Context.getASTRecordLayout(&Record);
  for (const FieldDecl *Field : Record.fields()) {
    uint64_t At = Layout.getFieldOffset(Field->getFieldIndex());
    if (Field->getName() == Name) {
      Bit += At;
      return Field;
    }
    const RecordDecl *Inner =
        Field->getName().empty() ? Field->getType()->getAsRecordDecl() : nullptr;
    uint64_t Within = Bit + At;
    if (const FieldDecl *Found = Inner ? findMember(Context, *Inner, Name, Within) : nullptr) {
      Bit = Within;
      return Found;
    }
  }
  return nullptr;
}

/// The same for "head.kind".
const FieldDecl *findPath(const ASTContext &Context, const RecordDecl &Record, llvm::StringRef Path,
                          uint64_t &Bit) {
  auto [First, Rest] = Path.split('.');
  const FieldDecl *Field = findMember(Context, Record, First.trim(), Bit);
  if (!Field || Rest.empty())
    return Field;
  const RecordDecl *Inner = Field->getType()->getAsRecordDecl();
  return Inner ? findPath(Context, *Inner, Rest, Bit) : nullptr;
}

bool hasRecordAround(const Scope &Outermost) {
  return isa<RecordDecl>(Outermost.Record->getLexicalDeclContext());
}

} // namespace

const AnnotateAttr *annotation(const FieldDecl &Field, llvm::StringRef Name) {
  for (const auto *Attribute : Field.specific_attrs<AnnotateAttr>())
    if (Attribute->getAnnotation() == Name)
      return Attribute;
  return nullptr;
}

uint64_t annotatedTag(ASTContext &Context, const FieldDecl &Field) {
  const AnnotateAttr *Mark = annotation(Field, "nvmove.tagged");
  if (!Mark || Mark->args_size() != 1)
    return 0;
  std::optional<int64_t> Bits = numberOf(Context, **Mark->args_begin());
  if (!Bits)
    complain(Context, Field, "NVM_TAGGED_PTR needs an integer constant");
  auto Mask = static_cast<uint64_t>(Bits.value_or(0));
  if (llvm::StringRef Wrong = port::wrongTag(Mask); !Wrong.empty())
    complain(Context, Field, "NVM_TAGGED_PTR: " + Wrong.str());
  return Mask;
}

std::optional<WhenLayout> annotatedWhen(ASTContext &Context, const FieldDecl &Field,
                                        const Scope *Around) {
  const AnnotateAttr *If = annotation(Field, "nvmove.when"),
                     *IfNot = annotation(Field, "nvmove.unless");
  const AnnotateAttr *Mark = If ? If : IfNot;
  if (!Mark || Mark->args_size() < 2)
    return std::nullopt;
  WhenLayout When;
  When.Unless = !If;
  for (const Expr *Argument : llvm::drop_begin(Mark->args())) {
    std::optional<int64_t> Value = numberOf(Context, *Argument);
    if (!Value) {
      complain(Context, Field, "NVM_WHEN and NVM_UNLESS need integer constants");
      return std::nullopt;
    }
    When.Values.push_back(*Value);
  }
  std::string Path = literalOf(**Mark->args_begin());
  bool IsBehindArray = false;
  for (const Scope *In = Around; In; In = In->Around) {
    if (!In->Record) {
      IsBehindArray = true;
      continue;
    }
    uint64_t Bit = In->Offset * 8;
    const FieldDecl *Decider = findPath(Context, *In->Record, Path, Bit);
    if (!Decider) {
      if (!In->Around && !hasRecordAround(*In))
        complain(Context, Field, "no member '" + Path + "' beside it or around it");
      continue;
    }
    if (IsBehindArray) {
      refuseCondition(Context, Field);
      return std::nullopt;
    }
    uint64_t Bits = Decider->isBitField() ? Decider->getBitWidthValue(Context)
                                          : Context.getTypeSize(Decider->getType());
    if (!Decider->getType()->isIntegralOrEnumerationType() || Bits > 64 || !Bits) {
      complain(Context, Field, "'" + Path + "' is no integer that could decide");
      return std::nullopt;
    }
    When.Offset = Bit / 8;
    When.FirstBit = static_cast<uint8_t>(Bit % 8);
    When.Bits = static_cast<uint8_t>(Bits);
    return When;
  }
  return std::nullopt;
}

void refuseCondition(ASTContext &Context, const FieldDecl &Field) {
  complain(Context, Field,
           "NVM_WHEN and NVM_UNLESS cannot decide about an array without a length; "
           "NVM_PTR_OR_NUMBER can, element by element");
}

void refuseConditions(ASTContext &Context, const FieldDecl &Field) {
  complain(
      Context, Field,
      "NVM_WHEN and NVM_UNLESS decide about members that have conditions of their own; no word "
      "can have two");
}

void refuseMark(ASTContext &Context, const FieldDecl &Field) {
  complain(Context, Field,
           "its mark is for pointers and for integers of 8 bytes, not bit-fields; mark the members "
           "of a structure one by one");
}

void refuseBits(ASTContext &Context, const FieldDecl &Field) {
  complain(
      Context, Field,
      "it shares a byte with other bit-fields, which are kept; a volatile one has bytes of its "
      "own: give it a multiple of 8 bits from a byte's start on, or no mark");
}

void refuseSize(ASTContext &Context, QualType T) {
  const RecordDecl *Record = Context.getBaseElementType(T)->getAsRecordDecl();
  DiagnosticsEngine &Diagnostics = Context.getDiagnostics();
  unsigned Id = Diagnostics.getCustomDiagID(
      DiagnosticsEngine::Error, "nvmove: %0: it has pointers 4 GiB or more behind its start, or as "
                                "many, or as far from each other");
  Diagnostics.Report(Record ? Record->getLocation() : SourceLocation(), Id) << T;
}

void writeWhen(llvm::raw_ostream &OS, const WhenLayout &When) {
  OS << (When.Unless ? "!" : "?") << When.Offset << '.' << unsigned(When.FirstBit) << ':'
     << unsigned(When.Bits) << (When.Follows ? "+" : "=");
  for (int64_t Value : When.Values)
    OS << Value << ' ';
}

} // namespace nvmove::plugin
