// Reads the source's side of things: see FrontendAction.h.
#include "FrontendAction.h"

#include "base/Advice.h"
#include "base/Frontend.h"
#include "base/Settings.h"
#include "base/UnsafeFile.h"
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
#include "clang/Basic/Builtins.h"
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

class SourceVisitor : public Visitor {
public:
  SourceVisitor(ASTContext &Context, LayoutBuilder &Layouts)
      : Context(Context), Layouts(Layouts), Names(Context) {}

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
    if (Callee)
      noteCopy(*Call, *Callee);
    if (auto *Its = dyn_cast<CXXMemberCallExpr>(Call))
      noteVirtual(*Its);
    if (auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call))
      noteAssigned(*Operator);
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
    noteHidden(Member, Member->getMemberLoc());
    return true;
  }

  bool VisitUnaryOperator(UnaryOperator *Change) override {
    if (Change->isIncrementDecrementOp()) {
      noteHidden(Change->getSubExpr(), Change->getOperatorLoc());
      noteStored(*Change->getSubExpr(), Change->getOperatorLoc());
    }
    return true;
  }

  /// A record is read as a whole: to initialise another, as an argument, as a result.
  bool VisitImplicitCastExpr(ImplicitCastExpr *Cast) override {
    if (looksAtRecords() && Cast->getCastKind() == CK_LValueToRValue)
      noteCopied(frontendFacts().ReadRecords, Cast->getType(),
                 Cast->getSubExpr()->IgnoreParens()->getExprLoc());
    return true;
  }

  /// C++: the compiler makes a copy of a constructor that does nothing else.
  bool VisitCXXConstructExpr(CXXConstructExpr *Made) override {
    const CXXConstructorDecl *Constructor = Made->getConstructor();
    if (!looksAtRecords() || !Constructor->isTrivial() || !Constructor->isCopyOrMoveConstructor())
      return true;
    noteCopied(frontendFacts().CopiedRecords, Made->getType(), Made->getExprLoc());
    noteCopied(frontendFacts().ReadRecords, Made->getType(), Made->getExprLoc());
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator *Assignment) override {
    if (!looksAtCopies() || !Assignment->isAssignmentOp())
      return true;
    noteHidden(Assignment->getLHS(), Assignment->getOperatorLoc());
    noteStored(*Assignment->getLHS(), Assignment->getOperatorLoc());
    if (Assignment->getOpcode() == BO_Assign)
      noteCopied(frontendFacts().CopiedRecords, Assignment->getType(),
                 Assignment->getRHS()->IgnoreParenImpCasts()->getExprLoc());
    const FieldDecl *Field = assignedField(Assignment->getLHS());
    std::string Key = keyOf(Assignment->getOperatorLoc());
    if (Field && Assignment->getType()->isPointerType() && !Key.empty())
      frontendFacts().AssignedFields[Key] =
          Context.getRecordType(Field->getParent()).getAsString() + "." + Field->getNameAsString();
    return true;
  }

private:
  std::string keyOf(SourceLocation At) const {
    PresumedLoc Place = Context.getSourceManager().getPresumedLoc(At);
    return Place.isInvalid() ? std::string()
                             : placeKey(Place.getFilename(), Place.getLine(), Place.getColumn());
  }

  /// A virtual function of a class that a system header has: who is called is known when the program runs.
  void noteVirtual(const CXXMemberCallExpr &Call) {
    auto *Member = dyn_cast<MemberExpr>(Call.getCallee()->IgnoreParens());
    const CXXMethodDecl *Method = Call.getMethodDecl();
    if (!Member || !Method || Method->isDependentContext() || !inSystemHeader(*Method) ||
        !Member->performsVirtualDispatch(Context.getLangOpts()))
      return;
    std::string Key = keyOf(Call.getExprLoc());
    if (Key.empty())
      return;
    frontendFacts().VirtualCalls[Key] = Names.getName(Method);
    SystemDeclarations.push_back(Method);
  }

  /// Of --emulate-types.
  static bool looksAtRecords() { return settings().Emulates || !settings().EmulateTypes.empty(); }
  static bool looksAtCopies() { return settings().Checked || looksAtRecords(); }

  /// A record is copied: the checked build looks at its pointers, an emulation charges it. The code of an
  /// assignment has the place of what is copied.
  void noteCopied(llvm::StringMap<std::set<uint64_t>> &To, QualType T, SourceLocation At) {
    std::string Key = keyOf(At);
    if (!T->isRecordType() || T->isIncompleteType() || T->isDependentType() || Key.empty())
      return;
    To[Key].insert(Layouts.describe(T));
  }

  /// C++: the compiler makes a copy of an assignment that does nothing else.
  void noteAssigned(const CXXOperatorCallExpr &Call) {
    auto *Method = dyn_cast_or_null<CXXMethodDecl>(Call.getDirectCallee());
    if (!looksAtCopies() || !Method || !Method->isTrivial() ||
        !(Method->isCopyAssignmentOperator() || Method->isMoveAssignmentOperator()))
      return;
    QualType Its = Context.getRecordType(Method->getParent());
    noteCopied(frontendFacts().CopiedRecords, Its, Call.getExprLoc());
    noteCopied(frontendFacts().ReadRecords, Its, Call.getExprLoc());
  }

  void noteCopy(const CallExpr &Call, const FunctionDecl &Callee) {
    unsigned Builtin = Callee.getBuiltinID();
    bool Copies = Builtin == Builtin::BImemcpy || Builtin == Builtin::BImemmove ||
                  Builtin == Builtin::BI__builtin_memcpy || Builtin == Builtin::BI__builtin_memmove;
    bool Fills = Builtin == Builtin::BImemset || Builtin == Builtin::BI__builtin_memset;
    bool Wanted = Copies || (Fills && looksAtRecords());
    if (!looksAtCopies() || !Wanted || Call.getNumArgs() < 2)
      return;
    notePointed(frontendFacts().CopiedRecords, *Call.getArg(0), Call.getExprLoc());
    if (Copies && looksAtRecords())
      notePointed(frontendFacts().ReadRecords, *Call.getArg(1), Call.getExprLoc());
  }

  void notePointed(llvm::StringMap<std::set<uint64_t>> &To, const Expr &Pointer,
                   SourceLocation At) {
    QualType T = Pointer.IgnoreParenImpCasts()->getType();
    if (T->isPointerType())
      noteCopied(To, T->getPointeeType(), At);
  }

  /// Clang makes no step of an address for the first bit-fields of a record, and for members of unions.
  void noteHidden(const Expr *Accessed, SourceLocation At) {
    auto *Member = dyn_cast<MemberExpr>(Accessed->IgnoreParens());
    auto *Field = Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
    std::string Key = looksAtRecords() && Field ? keyOf(At) : "";
    if (Key.empty() || Field->getParent()->isDependentType() ||
        !(Field->isBitField() || isInUnion(*Member)))
      return;
    std::set<uint64_t> &Ids = frontendFacts().HiddenRecords[Key];
    for (; Member; Member = inside(*Member))
      if (auto *Its = dyn_cast<FieldDecl>(Member->getMemberDecl()))
        Ids.insert(Layouts.describe(Context.getRecordType(Its->getParent())));
  }

  static bool isInUnion(const MemberExpr &Member) {
    for (const MemberExpr *Its = &Member; Its; Its = inside(*Its))
      if (auto *Field = dyn_cast<FieldDecl>(Its->getMemberDecl());
          Field && Field->getParent()->isUnion())
        return true;
    return false;
  }

  /// What a store is to: a port file may call it volatile.
  void noteStored(const Expr &To, SourceLocation At) {
    std::string Key = looksAtRecords() ? keyOf(At) : "";
    if (Key.empty() || To.isTypeDependent())
      return;
    const FieldDecl *Field = assignedField(&To);
    std::string Name = Field ? nameOfField(*Field) : "";
    auto [Known, New] = frontendFacts().StoredFields.try_emplace(Key, Name);
    if (!New && Known->second != Name) // stores of one macro share a place
      Known->second.clear();
  }

  /// The member that \p Member is a part of; null: it is reached through a pointer, or is of none.
  static const MemberExpr *inside(const MemberExpr &Member) {
    if (Member.isArrow())
      return nullptr;
    const Expr *Base = Member.getBase()->IgnoreParens();
    while (auto *Element = dyn_cast<ArraySubscriptExpr>(Base)) {
      auto *Decayed = dyn_cast<ImplicitCastExpr>(Element->getBase()->IgnoreParens());
      if (!Decayed || Decayed->getCastKind() != CK_ArrayToPointerDecay)
        return nullptr;
      Base = Decayed->getSubExpr()->IgnoreParens();
    }
    return dyn_cast<MemberExpr>(Base);
  }

  /// What is stored to: a field, or an element of an array that is one.
  static const FieldDecl *assignedField(const Expr *To) {
    To = To->IgnoreParens();
    while (auto *Element = dyn_cast<ArraySubscriptExpr>(To)) {
      auto *Decayed = dyn_cast<ImplicitCastExpr>(Element->getBase()->IgnoreParens());
      if (!Decayed || Decayed->getCastKind() != CK_ArrayToPointerDecay)
        return nullptr;
      To = Decayed->getSubExpr()->IgnoreParens();
    }
    auto *Member = dyn_cast<MemberExpr>(To);
    return Member ? dyn_cast<FieldDecl>(Member->getMemberDecl()) : nullptr;
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
