// See TypeTable.h.
#include "scan/TypeTable.h"

#include "clang/AST/Attr.h"
#include "clang/AST/RecordLayout.h"
#include "clang/Basic/FileManager.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace nvmove::scan {

using namespace facts;

TypeTable::TypeTable(clang::ASTContext &Context, TranslationUnit &Unit)
    : Context(Context), Unit(Unit) {
  text("");
}

StringId TypeTable::text(llvm::StringRef Text) {
  auto [It, New] = Texts.try_emplace(Text, static_cast<StringId>(Unit.Strings.size()));
  if (New)
    Unit.Strings.push_back(Text.str());
  return It->second;
}

Location TypeTable::location(clang::SourceLocation Where) {
  Location Result;
  if (Where.isInvalid())
    return Result;
  const clang::SourceManager &Sources = Context.getSourceManager();
  auto [File, Offset] = Sources.getDecomposedExpansionLoc(Where);
  auto [It, New] = Files.try_emplace(File, 0);
  if (New) {
    if (clang::OptionalFileEntryRef Entry = Sources.getFileEntryRefForID(File)) {
      llvm::SmallString<256> Path(Entry->getName());
      Sources.getFileManager().makeAbsolutePath(Path);
      llvm::sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
      It->second = text(Path);
    }
  }
  Result.File = It->second;
  Result.Line = Sources.getLineNumber(File, Offset);
  Result.Column = Sources.getColumnNumber(File, Offset);
  return Result;
}

TypeId TypeTable::type(clang::QualType Type) {
  if (Type.isNull())
    return None;
  clang::QualType Canonical = Type.getCanonicalType().getUnqualifiedType();
  if (const auto *Atomic = Canonical->getAs<clang::AtomicType>())
    Canonical = Atomic->getValueType().getCanonicalType().getUnqualifiedType();
  auto Known = Types.find(Canonical.getAsOpaquePtr());
  if (Known != Types.end())
    return Known->second;
  return build(Canonical);
}

TypeId TypeTable::build(clang::QualType Canonical) {
  // The entry is made first: a record's fields may refer back to it through pointers.
  TypeId Id = static_cast<TypeId>(Unit.Types.size());
  Types[Canonical.getAsOpaquePtr()] = Id;
  Unit.Types.emplace_back();
  facts::Type Made;
  if (!Canonical->isIncompleteType() && !Canonical->isFunctionType() &&
      !Canonical->isDependentType() && !Canonical->isVariableArrayType())
    Made.Size = Context.getTypeSizeInChars(Canonical).getQuantity();
  if (const auto *Pointer = Canonical->getAs<clang::PointerType>()) {
    Made.Kind = TypeKind::Pointer;
    Made.ConstPointee = Pointer->getPointeeType().isConstQualified();
    Made.Inner = type(Pointer->getPointeeType());
  } else if (const auto *Record = Canonical->getAs<clang::RecordType>()) {
    Made.Kind = TypeKind::Record;
    Made.Inner = record(Record->getDecl());
  } else if (const auto *Array = Context.getAsArrayType(Canonical)) {
    Made.Kind = TypeKind::Array;
    Made.Inner = type(Array->getElementType());
  } else if (Canonical->isFunctionType()) {
    Made.Kind = TypeKind::Function;
    Made.Spelling = text(Canonical.getAsString());
  } else if (Canonical->isVoidType()) {
    Made.Kind = TypeKind::Void;
  } else {
    Made.Kind = TypeKind::Scalar;
    Made.Spelling = text(Canonical.getAsString());
  }
  Unit.Types[Id] = Made;
  return Id;
}

RecordId TypeTable::record(const clang::RecordDecl *Declared) {
  const clang::RecordDecl *Record = Declared->getDefinition();
  const auto *Key = llvm::cast<clang::RecordDecl>(Declared->getCanonicalDecl());
  auto Known = Records.find(Key);
  if (Known != Records.end())
    return Known->second;
  RecordId Id = static_cast<RecordId>(Unit.Records.size());
  Records[Key] = Id;
  Unit.Records.emplace_back();
  const clang::RecordDecl *Best = Record ? Record : Declared;
  facts::Record Made;
  Made.Union = Best->isUnion();
  if (Best->getIdentifier())
    Made.Name = text(Best->getName());
  else if (const clang::TypedefNameDecl *Typedef = Best->getTypedefNameForAnonDecl())
    Made.Name = text(Typedef->getName());
  Made.Where = location(Best->getLocation());
  Made.System = Context.getSourceManager().isInSystemHeader(Best->getLocation());
  if (Made.Name == 0)
    if (const auto *Outer = llvm::dyn_cast<clang::RecordDecl>(Best->getLexicalParent()))
      Made.Parent = record(Outer);
  Unit.Records[Id] = Made;
  if (Record && !Record->isInvalidDecl())
    fillFields(Id, Record);
  return Id;
}

void TypeTable::fillFields(RecordId Id, const clang::RecordDecl *Definition) {
  const clang::ASTRecordLayout &Layout = Context.getASTRecordLayout(Definition);
  std::vector<Field> Fields;
  for (const clang::FieldDecl *Declared : Definition->fields()) {
    Field Made;
    Made.Name = text(Declared->getName());
    Made.Type = type(Declared->getType());
    Made.Offset = Layout.getFieldOffset(Declared->getFieldIndex()) / 8;
    Fields.push_back(Made);
  }
  facts::Record &Made = Unit.Records[Id];
  Made.Fields = std::move(Fields);
  Made.Size = Layout.getSize().getQuantity();
  Made.Complete = true;
}

uint64_t TypeTable::fieldOffset(const clang::FieldDecl *Field) {
  return Context.getFieldOffset(Field) / 8;
}

SymbolId TypeTable::symbol(const clang::ValueDecl *Decl, bool Local) {
  const auto *Key = llvm::cast<clang::ValueDecl>(Decl->getCanonicalDecl());
  auto Known = Symbols.find(Key);
  if (Known != Symbols.end())
    return Known->second;
  SymbolId Id = static_cast<SymbolId>(Unit.Symbols.size());
  Symbols[Key] = Id;
  Unit.Symbols.emplace_back();
  Symbol Made;
  Made.Name = text(Decl->getName());
  if (const auto *Variable = llvm::dyn_cast<clang::VarDecl>(Decl);
      Variable && Variable->isStaticLocal())
    if (const auto *Around = llvm::dyn_cast<clang::FunctionDecl>(Variable->getDeclContext());
        Around && Around->getIdentifier())
      Made.Name = text((Around->getName() + "." + Decl->getName()).str());
  Made.Type = type(Decl->getType());
  Made.System = Context.getSourceManager().isInSystemHeader(Key->getLocation());
  const clang::ValueDecl *Shown = Decl;
  if (const auto *Function = llvm::dyn_cast<clang::FunctionDecl>(Decl)) {
    describeFunction(Made, Function);
    if (const clang::FunctionDecl *Definition = Function->getDefinition())
      Shown = Definition;
    if (const clang::FunctionDecl *Body = nullptr; Function->hasBody(Body))
      Reached.push_back(Body);
  } else if (const auto *Variable = llvm::dyn_cast<clang::VarDecl>(Decl)) {
    Made.Kind = Local ? SymbolKind::Local : SymbolKind::Global;
    Made.External =
        Variable->isExternallyDeclarable() && !Local && Variable->hasExternalFormalLinkage();
    Made.Weak = Variable->hasAttr<clang::WeakAttr>();
    Made.Constant = Context.getBaseElementType(Variable->getType()).isConstQualified();
    Made.Defined = Variable->hasDefinition() != clang::VarDecl::DeclarationOnly;
    if (const clang::VarDecl *Definition = Variable->getDefinition())
      Shown = Definition;
    else if (const clang::VarDecl *Acting =
                 const_cast<clang::VarDecl *>(Variable)->getActingDefinition())
      Shown = Acting;
  }
  Made.Where = location(Shown->getLocation());
  Unit.Symbols[Id] = Made;
  return Id;
}

SymbolId TypeTable::temporary(clang::QualType Type, clang::SourceLocation Where) {
  Symbol Made;
  Made.Kind = SymbolKind::Local;
  Made.Type = type(Type);
  Made.Where = location(Where);
  Unit.Symbols.push_back(Made);
  return static_cast<SymbolId>(Unit.Symbols.size() - 1);
}

void TypeTable::describeFunction(Symbol &Made, const clang::FunctionDecl *Function) {
  Made.Kind = SymbolKind::Function;
  Made.External = Function->hasExternalFormalLinkage();
  const clang::FunctionDecl *Definition = nullptr;
  Made.Defined = Function->hasAttr<clang::AliasAttr>() ||
                 (Function->isDefined(Definition) && !Definition->hasSkippedBody());
  Made.Weak =
      Function->hasAttr<clang::WeakAttr>() || (Definition && Definition->isInlineSpecified() &&
                                               !Definition->isInlineDefinitionExternallyVisible());
  Made.NoReturn = Function->isNoReturn() || Function->hasAttr<clang::AnalyzerNoReturnAttr>();
  for (const clang::FunctionDecl *Redeclared : Function->redecls())
    Made.Formats |= llvm::any_of(
        Redeclared->specific_attrs<clang::FormatAttr>(), [](const clang::FormatAttr *Format) {
          return Format->getType() && Format->getType()->getName().contains("printf");
        });
}

bool TypeTable::holdsPointers(clang::QualType Type) {
  clang::QualType Canonical = Type.getCanonicalType().getUnqualifiedType();
  while (const clang::ArrayType *Array = Context.getAsArrayType(Canonical))
    Canonical = Array->getElementType().getCanonicalType().getUnqualifiedType();
  if (Canonical->isAnyPointerType())
    return true;
  const auto *Record = Canonical->getAs<clang::RecordType>();
  if (!Record)
    return false;
  auto [It, New] = PointerHolders.try_emplace(Canonical.getAsOpaquePtr(), false);
  if (!New)
    return It->second;
  bool Holds = llvm::any_of(Record->getDecl()->fields(), [this](const clang::FieldDecl *Field) {
    return holdsPointers(Field->getType());
  });
  return PointerHolders[Canonical.getAsOpaquePtr()] = Holds;
}

void TypeTable::addAliases() {
  for (const clang::Decl *Decl : Context.getTranslationUnitDecl()->decls()) {
    const auto *Typedef = llvm::dyn_cast<clang::TypedefNameDecl>(Decl);
    if (!Typedef)
      continue;
    const auto *Type = Typedef->getUnderlyingType()->getAs<clang::RecordType>();
    if (!Type)
      continue;
    auto Known = Records.find(llvm::cast<clang::RecordDecl>(Type->getDecl()->getCanonicalDecl()));
    if (Known == Records.end())
      continue;
    Record &Named = Unit.Records[Known->second];
    StringId Alias = text(Typedef->getName());
    if (Alias != Named.Name && !llvm::is_contained(Named.Aliases, Alias))
      Named.Aliases.push_back(Alias);
  }
}

} // namespace nvmove::scan
