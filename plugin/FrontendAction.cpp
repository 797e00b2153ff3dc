// Reads the source's side of things: see FrontendAction.h.
#include "FrontendAction.h"

#include "base/Advice.h"
#include "base/Frontend.h"
#include "base/Settings.h"
#include "base/UnsafeFile.h"
#include "frontend/AccessedPlaces.h"
#include "frontend/FieldAnnotations.h"
#include "frontend/Layouts.h"
#include "frontend/MisplacedMarks.h"
#include "frontend/PlaceNames.h"
#include "frontend/SystemFunctions.h"
#include "frontend/Visitor.h"
#include "porting/Port.h"
#include "porting/PortSource.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Mangle.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace clang;

namespace nvmove::plugin {

FrontendFacts &frontendFacts() {
  static FrontendFacts Facts;
  return Facts;
}

std::string placeKey(llvm::StringRef File, unsigned Line, unsigned Column) {
  llvm::SmallString<128> Path(File);
  llvm::sys::fs::make_absolute(Path);
  llvm::sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return llvm::formatv("{0}:{1}:{2}", Path, Line, Column);
}

namespace {

std::string withPrefix(llvm::StringRef Name) {
  llvm::SmallString<128> Path(Name);
  for (const auto &[From, To] : frontendFacts().Prefixes)
    if (llvm::sys::path::replace_path_prefix(Path, From, To))
      break;
  return Path.str().str();
}

} // namespace

/// As clang's CGDebugInfo makes it.
std::string nameInDebugInfo(llvm::StringRef File) {
  llvm::SmallString<128> Folder(frontendFacts().Folder), Named(withPrefix(File));
  if (Folder.empty())
    llvm::sys::fs::current_path(Folder);
  if (llvm::sys::path::is_relative(File) && llvm::sys::path::is_relative(Named)) {
    llvm::SmallString<128> Whole(withPrefix(Folder));
    llvm::sys::path::append(Whole, Named);
    return Whole.str().str();
  }
  return Named.str().str();
}

namespace {

class SourceVisitor : public Visitor {
public:
  SourceVisitor(ASTContext &Context, LayoutBuilder &Layouts)
      : Context(Context), Layouts(Layouts), Places(Context, Layouts), Names(Context) {}

  bool shouldVisitTemplateInstantiations() const override { return true; }

  bool VisitDecl(Decl *D) override {
    refuseMisplacedMarks(Context, *D);
    return true;
  }

  bool VisitRecordDecl(RecordDecl *Record) override {
    if (Record->isCompleteDefinition() && !Record->isDependentType() && !inSystemHeader(*Record) &&
        !Record->isInvalidDecl()) {
      sizeVolatileUnions(Context, *Record);
      Layouts.describe(Context.getRecordType(Record));
    }
    return true;
  }

  bool VisitFunctionDecl(FunctionDecl *F) override {
    // The functions of libnvmove that nvmove.unsafe does not list do what a program cannot see.
    bool Own = F->getIdentifier() && F->getName().starts_with("nvm_");
    if (!F->isDependentContext() && inSystemHeader(*F) && isCompiledElsewhere(*F) && !Own)
      SystemDeclarations.push_back(F);
    return true;
  }

  bool VisitFunctionTemplateDecl(FunctionTemplateDecl *Template) override {
    if (!Template->getDeclContext()->isDependentContext() && inSystemHeader(*Template))
      SystemTemplates.push_back(Template);
    return true;
  }

  /// At the end, when it is known which functions a template was asked for (`extern template`, which
  /// is pre-compiled, is nowhere else), and what lies in the objects that were only declared.
  void finish() {
    for (FunctionTemplateDecl *Template : SystemTemplates)
      for (FunctionDecl *F : Template->specializations())
        VisitFunctionDecl(F);
    for (const FunctionDecl *F : SystemDeclarations)
      frontendFacts().SystemFunctions[Names.getName(F)] = describeSystemFunction(*F);
  }

  /// NVM_TYPE_ID(type) is __nvm_type_id("type", (type *)0). The number goes in as the second
  /// argument, before code is generated; the early phase of the IR half takes it out.
  bool VisitCallExpr(CallExpr *Call) override {
    Callees.insert(Call->getCallee()->IgnoreParenImpCasts());
    const FunctionDecl *Callee = Call->getDirectCallee();
    Places.noteCall(*Call);
    if (auto *Its = dyn_cast<CXXMemberCallExpr>(Call))
      noteVirtual(*Its);
    if (!Callee || !Callee->getIdentifier() || Callee->getName() != "__nvm_type_id" ||
        Call->getNumArgs() != 2 || Call->isTypeDependent())
      return true;
    Expr *Marker = Call->getArg(1);
    QualType Pointer = Marker->IgnoreParenImpCasts()->getType();
    if (!Pointer->isPointerType() || Pointer->getPointeeType()->isIncompleteType())
      return true;
    uint64_t Id = Layouts.describe(Pointer->getPointeeType());
    QualType Word = Context.getUIntPtrType();
    auto *Number = IntegerLiteral::Create(
        Context, llvm::APInt(static_cast<unsigned>(Context.getTypeSize(Word)), Id), Word,
        Marker->getBeginLoc());
    Call->setArg(1, ImplicitCastExpr::Create(Context, Marker->getType(), CK_IntegralToPointer,
                                             Number, nullptr, VK_PRValue, FPOptionsOverride()));
    return true;
  }

  /// Where the program first takes the address of a function that has no body here.
  bool VisitDeclRefExpr(DeclRefExpr *Name) override {
    auto *F = dyn_cast<FunctionDecl>(Name->getDecl());
    if (!F || F->isDependentContext() || F->hasBody() || Callees.contains(Name))
      return true;
    const SourceManager &Sources = Context.getSourceManager();
    SourceLocation Place = Sources.getExpansionLoc(Name->getBeginLoc());
    if (!Sources.isInSystemHeader(Place))
      frontendFacts().TakenAddresses.try_emplace(Names.getName(F), Place.getRawEncoding());
    return true;
  }

  bool VisitMemberExpr(MemberExpr *Member) override {
    Places.noteMember(*Member);
    return true;
  }

  bool VisitUnaryOperator(UnaryOperator *Change) override {
    Places.noteChange(*Change);
    return true;
  }

  bool VisitImplicitCastExpr(ImplicitCastExpr *Cast) override {
    Places.noteRead(*Cast);
    return true;
  }

  bool VisitAtomicExpr(AtomicExpr *Access) override {
    Places.noteAtomic(*Access);
    return true;
  }

  bool VisitCXXConstructExpr(CXXConstructExpr *Made) override {
    Places.noteConstructed(*Made);
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator *Assignment) override {
    Places.noteBinary(*Assignment);
    return true;
  }

private:
  /// A virtual function of a class that a system header has: who is called is known when the program runs.
  void noteVirtual(const CXXMemberCallExpr &Call) {
    auto *Member = dyn_cast<MemberExpr>(Call.getCallee()->IgnoreParens());
    const CXXMethodDecl *Method = Call.getMethodDecl();
    if (!Member || !Method || Method->isDependentContext() || !inSystemHeader(*Method) ||
        !Member->performsVirtualDispatch(Context.getLangOpts()))
      return;
    std::string Key = Places.keyOf(Call.getExprLoc());
    if (Key.empty())
      return;
    frontendFacts().VirtualCalls[Key] = Names.getName(Method);
    SystemDeclarations.push_back(Method);
  }

  /// In a file that was found in a system directory. A header of the program's own may call itself
  /// a system header; what it declares is not pre-compiled for that. A preprocessed source says
  /// only in its lines what was either of the two.
  bool inSystemHeader(const Decl &D) const {
    const SourceManager &Sources = Context.getSourceManager();
    SourceLocation Place = Sources.getExpansionLoc(D.getLocation());
    FileID File = Sources.getFileID(Place);
    if (File == Sources.getMainFileID())
      return Sources.isInSystemHeader(Place);
    const SrcMgr::SLocEntry *Entry = File.isValid() ? &Sources.getSLocEntry(File) : nullptr;
    return Entry && Entry->isFile() && SrcMgr::isSystem(Entry->getFile().getFileCharacteristic());
  }

  /// `extern template` makes that of what has its body in the header.
  static bool isCompiledElsewhere(const FunctionDecl &F) {
    return !F.isInlined() ||
           F.getTemplateSpecializationKind() == TSK_ExplicitInstantiationDeclaration;
  }

  ASTContext &Context;
  LayoutBuilder &Layouts;
  AccessedPlaces Places;
  ASTNameGenerator Names;
  std::vector<FunctionTemplateDecl *> SystemTemplates;
  std::vector<const FunctionDecl *> SystemDeclarations;
  llvm::SmallPtrSet<const Expr *, 16> Callees;
};

class SourceConsumer : public ASTConsumer {
public:
  void Initialize(ASTContext &Context) override {
    Layouts = std::make_unique<LayoutBuilder>(Context);
    Visitor = std::make_unique<SourceVisitor>(Context, *Layouts);
  }

  // As each declaration is complete: code is generated for it right afterwards.
  bool HandleTopLevelDecl(DeclGroupRef Group) override {
    takePrecompiled();
    for (Decl *D : Group)
      if (!D->isFromASTFile() || Precompiled.insert(D).second)
        take(DeclGroupRef(D));
    return true;
  }

  // Before the module is complete and optimised.
  void HandleTranslationUnit(ASTContext &Context) override {
    takePrecompiled();
    Visitor->finish();
    frontendFacts().Types = Layouts->finish();
    frontendFacts().Throws = Context.getLangOpts().Exceptions;
  }

private:
  void take(DeclGroupRef Group) {
    markFields(Layouts->context(), Group);
    rewriteForPort(*Layouts, Group);
    for (Decl *D : Group)
      Visitor->traverse(D);
  }

  /// Nobody hands over the declarations of a precompiled header, but for functions with bodies:
  /// those while the others are read, so that it comes here again.
  void takePrecompiled() {
    auto All = Layouts->context().getTranslationUnitDecl()->decls();
    if (std::exchange(PrecompiledTaken, true))
      return;
    for (Decl *D : All)
      if (D->isFromASTFile() && Precompiled.insert(D).second)
        take(DeclGroupRef(D));
  }

  bool PrecompiledTaken = false;
  llvm::SmallPtrSet<const Decl *, 8> Precompiled; ///< those of a precompiled header, once seen
  std::unique_ptr<LayoutBuilder> Layouts;
  std::unique_ptr<SourceVisitor> Visitor;
};

} // namespace

std::unique_ptr<ASTConsumer> SourceAction::CreateASTConsumer(CompilerInstance &Compiler,
                                                             llvm::StringRef) {
  // Where a precompiled header is used its declarations are seen, as they are in the source.
  if (Compiler.getFrontendOpts().ProgramAction == frontend::GeneratePCH)
    return std::make_unique<ASTConsumer>();
  // Notes are made by passes. With -save-temps and -fembed-bitcode another process goes on with the
  // bitcode, and knows nothing of the source. Only text may be without: nothing is made of it here.
  if (Compiler.getFrontendOpts().ProgramAction != frontend::EmitLLVM)
    Compiler.getCodeGenOpts().DisableLLVMPasses = false;
  // Places for warnings and checks; nothing of it reaches the object file.
  if (Compiler.getCodeGenOpts().getDebugInfo() == llvm::codegenoptions::NoDebugInfo)
    Compiler.getCodeGenOpts().setDebugInfo(llvm::codegenoptions::LocTrackingOnly);
  if (settings().Emulates)
    Compiler.getCodeGenOpts().DebugColumnInfo = true;
  const auto &Prefixes = Compiler.getCodeGenOpts().DebugPrefixMap;
  frontendFacts().Prefixes.assign(Prefixes.rbegin(), Prefixes.rend());
  frontendFacts().Folder = Compiler.getCodeGenOpts().DebugCompilationDir;
  return std::make_unique<SourceConsumer>();
}

bool SourceAction::ParseArgs(const CompilerInstance &Compiler,
                             const std::vector<std::string> &Arguments) {
  DiagnosticsEngine &Diagnostics = Compiler.getDiagnostics();
  adviseThrough(Diagnostics);
  auto Fail = [&](llvm::Error E) {
    unsigned Id = Diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "%0");
    Diagnostics.Report(Id) << llvm::toString(std::move(E));
    return false;
  };
  for (const std::string &Argument : Arguments)
    if (llvm::Error E = parseSetting(Argument, settings()))
      return Fail(std::move(E));
  if (llvm::Error E = readPort(Compiler.getFrontendOpts().Inputs.front().getFile()))
    return Fail(std::move(E));
  UnsafeTable Table; // here, for an error before the work
  for (const std::string &Path : settings().UnsafeFiles)
    if (llvm::Error E = Table.addFile(Path))
      return Fail(std::move(E));
  frontendFacts().Unsafe = std::move(Table);
  return true;
}

} // namespace nvmove::plugin
