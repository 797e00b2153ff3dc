// Sets up one Clang parse and walks its declarations. See Recorder.h.
//
// The command runs through Clang's own driver, under the installed clang's name so that its builtin
// headers are found. Each call has a file manager and a file system of its own: relative paths of
// one command must never be answered from another's directory.
#include "scan/Recorder.h"

#include "scan/CommandLine.h"
#include "scan/FunctionRecorder.h"
#include "scan/ReadFiles.h"
#include "scan/TypeTable.h"
#include "support/Files.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/Attr.h"
#include "clang/Basic/DiagnosticDriver.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Frontend/Utils.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "clang/Tooling/Tooling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace nvmove::scan {

namespace {

/// Compilers of today's defaults refuse what the C of yesterday was full of; gcc 12 only warns.
constexpr const char *Tolerances[] = {
    "-fsyntax-only",
    "-w",
    "-Wno-error",
    "-Wno-error=implicit-function-declaration",
    "-Wno-error=implicit-int",
    "-Wno-error=int-conversion",
    "-Wno-error=incompatible-function-pointer-types",
    "-Wno-error=incompatible-pointer-types",
    "-Wno-error=return-type",
    "-fno-spell-checking",
    "-Qunused-arguments",
};

/// Records what the main file defines and whatever that reaches.
///
/// Functions are taken from a work list: naming one while recording (TypeTable::symbol) puts it
/// there. It starts with the functions of the main file and those with a strong external definition
/// in any file; an inline function of a header, which most files of a program repeat and few use,
/// is recorded where something recorded names it. Bodies are stored in the order of the source.
class Walker : public clang::ASTConsumer {
public:
  Walker(facts::TranslationUnit &Unit, std::string CompilerHeaders)
      : Unit(Unit), CompilerHeaders(std::move(CompilerHeaders)) {}

  void HandleTranslationUnit(clang::ASTContext &Context) override {
    if (Context.getDiagnostics().hasErrorOccurred())
      return;
    TypeTable Types(Context, Unit);
    facts::Function Initialisers;
    FunctionRecorder Statics(Types, Initialisers);
    llvm::DenseMap<const clang::FunctionDecl *, unsigned> Order;
    for (const clang::Decl *Decl : Context.getTranslationUnitDecl()->decls()) {
      if (const auto *Variable = llvm::dyn_cast<clang::VarDecl>(Decl)) {
        recordGlobal(Variable, Types, Statics);
      } else if (const auto *Function = llvm::dyn_cast<clang::FunctionDecl>(Decl);
                 Function && Function->doesThisDeclarationHaveABody() && !isCopy(Function)) {
        Order.try_emplace(Function, static_cast<unsigned>(Order.size()));
        if (startsFrom(Function, Context))
          Types.symbol(Function);
      }
    }
    std::vector<facts::Function> Aliases = recordAliases(Context, Types);
    std::vector<std::pair<unsigned, facts::Function>> Bodies;
    while (const clang::FunctionDecl *Function = Types.nextReached()) {
      auto Known = Order.find(Function);
      if (Known == Order.end() || Function->isInvalidDecl())
        continue;
      auto &[Position, Body] = Bodies.emplace_back();
      Position = Known->second;
      FunctionRecorder(Types, Body).recordBody(Function);
    }
    llvm::sort(Bodies, [](const auto &A, const auto &B) { return A.first < B.first; });
    Types.addAliases();
    Unit.Functions.reserve(Bodies.size() + 1);
    Unit.Functions.push_back(std::move(Initialisers));
    for (auto &[Position, Body] : Bodies)
      Unit.Functions.push_back(std::move(Body));
    llvm::move(Aliases, std::back_inserter(Unit.Functions));
    const clang::SourceManager &Sources = Context.getSourceManager();
    Unit.Lines = Sources.getBufferData(Sources.getMainFileID()).count('\n');
  }

  /// Asked while parsing. The bodies of the compiler's own headers (vector intrinsics, 47,000 lines
  /// in one include) move no pointers.
  bool shouldSkipFunctionBody(clang::Decl *Decl) override {
    const clang::SourceManager &Sources = Decl->getASTContext().getSourceManager();
    clang::FileID File = Sources.getFileID(Sources.getExpansionLoc(Decl->getLocation()));
    auto [Known, New] = OfCompiler.try_emplace(File, false);
    if (New)
      if (clang::OptionalFileEntryRef Entry = Sources.getFileEntryRefForID(File))
        Known->second = Entry->getName().starts_with(CompilerHeaders);
    return Known->second;
  }

private:
  /// What a library's header shows of a function of the library for inlining (`extern inline` of GNU C, as
  /// vprintf where it is optimised): the function itself is in the library.
  static bool isCopy(const clang::FunctionDecl *Function) {
    bool ByGnu = Function->hasAttr<clang::GNUInlineAttr>() ||
                 Function->getASTContext().getLangOpts().GNUInline;
    return ByGnu && Function->isInlined() && Function->hasExternalFormalLinkage() &&
           !Function->isInlineDefinitionExternallyVisible();
  }

  /// True for a definition that belongs to the program whether or not this file uses it.
  static bool startsFrom(const clang::FunctionDecl *Function, clang::ASTContext &Context) {
    if (Function->hasExternalFormalLinkage() &&
        (!Function->isInlined() || Function->isInlineDefinitionExternallyVisible()))
      return true;
    const clang::SourceManager &Sources = Context.getSourceManager();
    if (!Sources.isWrittenInMainFile(Sources.getExpansionLoc(Function->getLocation())))
      return false;
    return Function->hasExternalFormalLinkage() || Function->isReferenced() || Function->isUsed() ||
           Function->hasAttr<clang::ConstructorAttr>();
  }

  /// Functions that are declared here as another name of one that is defined here.
  static std::vector<facts::Function> recordAliases(clang::ASTContext &Context, TypeTable &Types) {
    std::vector<facts::Function> Recorded;
    llvm::StringMap<const clang::FunctionDecl *> Defined;
    for (const clang::Decl *Decl : Context.getTranslationUnitDecl()->decls())
      if (const auto *Function = llvm::dyn_cast<clang::FunctionDecl>(Decl);
          Function && Function->doesThisDeclarationHaveABody() && Function->getIdentifier())
        Defined.try_emplace(Function->getName(), Function);
    for (const clang::Decl *Decl : Context.getTranslationUnitDecl()->decls()) {
      const auto *Function = llvm::dyn_cast<clang::FunctionDecl>(Decl);
      const auto *Alias = Function ? Function->getAttr<clang::AliasAttr>() : nullptr;
      if (!Alias || Alias->isInherited() || !Function->getIdentifier())
        continue;
      if (auto Meant = Defined.find(Alias->getAliasee()); Meant != Defined.end())
        FunctionRecorder(Types, Recorded.emplace_back()).recordAlias(Function, Meant->second);
    }
    return Recorded;
  }

  static void recordGlobal(const clang::VarDecl *Variable, TypeTable &Types,
                           FunctionRecorder &Statics) {
    if (Variable->hasDefinition() == clang::VarDecl::DeclarationOnly)
      return;
    Types.symbol(Variable);
    if (Variable->hasInit() && !Variable->isInvalidDecl())
      Statics.recordInitialiser(Variable);
  }

  facts::TranslationUnit &Unit;
  const std::string CompilerHeaders; ///< The folder that Clang itself installs them in.
  llvm::DenseMap<clang::FileID, bool> OfCompiler;
};

class RecordAction : public clang::ASTFrontendAction {
public:
  explicit RecordAction(Recording &Result) : Result(Result) {}

  std::unique_ptr<clang::ASTConsumer> CreateASTConsumer(clang::CompilerInstance &CI,
                                                        llvm::StringRef) override {
    CI.getFrontendOpts().SkipFunctionBodies = true; // As far as Walker agrees.
    return std::make_unique<Walker>(Result.Unit,
                                    CI.getHeaderSearchOpts().ResourceDir + "/include/");
  }

private:
  Recording &Result;
};

/// What __has_include finds.
class AskedFiles : public clang::PPCallbacks {
public:
  explicit AskedFiles(ReadFiles &Files) : Files(Files) {}

  void HasInclude(clang::SourceLocation, llvm::StringRef, bool, clang::OptionalFileEntryRef File,
                  clang::SrcMgr::CharacteristicKind) override {
    if (File)
      Files.found(File->getName());
  }

private:
  ReadFiles &Files;
};

/// Files that a compilation depends on without opening them: those that a precompiled header was made
/// of, and those that __has_include finds.
class UsedFiles : public clang::DependencyCollector {
public:
  explicit UsedFiles(ReadFiles &Files) : Files(Files) {}

  void attachToPreprocessor(clang::Preprocessor &P) override {
    P.addPPCallbacks(std::make_unique<AskedFiles>(Files));
  }

  bool needSystemDependencies() override { return true; }

  bool sawDependency(llvm::StringRef Path, bool FromModule, bool IsSystem, bool IsModuleFile,
                     bool IsMissing) override {
    if (IsMissing ||
        !DependencyCollector::sawDependency(Path, FromModule, IsSystem, IsModuleFile, IsMissing))
      return false;
    Files.used(Path);
    return true;
  }

private:
  ReadFiles &Files;
};

/// What an invocation says about the meaning of its source, and nothing else: no group of options
/// that names a file to write, or asks for something to be shown, is taken over.
std::shared_ptr<clang::CompilerInvocation> readingOnly(clang::CompilerInvocation &Asked) {
  auto Made = std::make_shared<clang::CompilerInvocation>();
  Made->getLangOpts() = Asked.getLangOpts();
  Made->getTargetOpts() = Asked.getTargetOpts();
  Made->getHeaderSearchOpts() = Asked.getHeaderSearchOpts();
  Made->getPreprocessorOpts() = Asked.getPreprocessorOpts();
  Made->getFrontendOpts().Inputs = Asked.getFrontendOpts().Inputs;
  Made->getFrontendOpts().DashX = Asked.getFrontendOpts().DashX;
  Made->getFrontendOpts().ProgramAction = clang::frontend::ParseSyntaxOnly;
  clang::DiagnosticOptions &Shown = Made->getDiagnosticOpts();
  Shown.Warnings = Asked.getDiagnosticOpts().Warnings;
  Shown.IgnoreWarnings = Asked.getDiagnosticOpts().IgnoreWarnings;
  Shown.PedanticErrors = Asked.getDiagnosticOpts().PedanticErrors;
  Shown.SpellCheckingLimit = Asked.getDiagnosticOpts().SpellCheckingLimit;
  Shown.ErrorLimit = 20;
  // A module would be built into the compiler's cache; its headers can be read as they are.
  clang::LangOptions &Language = Made->getLangOpts();
  Language.Modules = Language.ImplicitModules = false;
  Language.DumpRecordLayouts = Language.DumpRecordLayoutsSimple = false;
  Language.DumpRecordLayoutsCanonical = Language.DumpRecordLayoutsComplete = false;
  Language.DumpVTableLayouts = false;
  Made->getHeaderSearchOpts().ImplicitModuleMaps = false;
  Made->getHeaderSearchOpts().ModuleCachePath.clear();
  Made->getHeaderSearchOpts().Verbose = false;
  Made->getPreprocessorOpts().DumpDeserializedPCHDecls = false;
  return Made;
}

class RecordActionFactory : public clang::tooling::ToolAction {
public:
  RecordActionFactory(Recording &Result, ReadFiles &FileSystem)
      : Result(Result), FileSystem(FileSystem) {}

  bool runInvocation(std::shared_ptr<clang::CompilerInvocation> Invocation,
                     clang::FileManager *Files,
                     std::shared_ptr<clang::PCHContainerOperations> Containers,
                     clang::DiagnosticConsumer *Consumer) override {
    Ran = true;
    clang::CompilerInstance Compiler(std::move(Containers));
    Compiler.setInvocation(readingOnly(*Invocation));
    Compiler.setFileManager(Files);
    Compiler.createDiagnostics(Consumer, /*ShouldOwnClient=*/false);
    Compiler.createSourceManager(*Files);
    Compiler.addDependencyCollector(std::make_shared<UsedFiles>(FileSystem));
    Compiler.setVerboseOutputStream(llvm::nulls()); // "2 errors generated." belongs to nobody.
    RecordAction Action(Result);
    bool Fine = Compiler.ExecuteAction(Action);
    Result.Errors = Compiler.getDiagnostics().getNumErrors();
    Files->clearStatCache();
    return Fine;
  }

  bool Ran = false;

private:
  Recording &Result;
  ReadFiles &FileSystem;
};

/// Prints diagnostics into a string and remembers the options that the driver refused.
class Listener : public clang::TextDiagnosticPrinter {
public:
  Listener(llvm::raw_ostream &OS, clang::DiagnosticOptions *Options)
      : TextDiagnosticPrinter(OS, Options) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &Info) override {
    switch (Info.getID()) {
    case clang::diag::err_drv_unknown_argument:
    case clang::diag::err_drv_unknown_argument_with_suggestion:
    case clang::diag::err_drv_unsupported_opt:
    case clang::diag::err_drv_unsupported_opt_for_target:
    case clang::diag::err_drv_invalid_value:
      if (Info.getNumArgs() && Info.getArgKind(0) == clang::DiagnosticsEngine::ak_std_string)
        Refused.push_back(Info.getArgStdStr(0));
      break;
    default:
      break;
    }
    TextDiagnosticPrinter::HandleDiagnostic(Level, Info);
  }

  std::vector<std::string> Refused;
};

/// The object file, or the name of one in the folder that it would be in: it tells which program
/// the unit is for.
std::string outputOf(const CompileCommand &Command) {
  return Command.Output.empty() ? support::absolutePath("object", Command.Directory)
                                : Command.Output;
}

} // namespace

llvm::Expected<Recording> record(const CompileCommand &Command) {
  if (Command.Arguments.empty())
    return llvm::createStringError(std::make_error_code(std::errc::invalid_argument),
                                   "%s: the compile command is empty", Command.File.c_str());
  std::vector<std::string> Arguments = {NVMOVE_CLANG};
  Arguments.insert(Arguments.end(), std::begin(Tolerances), std::end(Tolerances));
  llvm::append_range(Arguments, meaningfulWords(Command));
  // Each round drops the options that Clang's driver refused in the one before.
  for (unsigned Round = 0;; ++Round) {
    Recording Result;
    llvm::IntrusiveRefCntPtr<ReadFiles> FileSystem(new ReadFiles);
    if (std::error_code Failed = FileSystem->setCurrentWorkingDirectory(Command.Directory))
      return llvm::createStringError(Failed, "%s: cannot enter its build directory '%s': %s",
                                     Command.File.c_str(), Command.Directory.c_str(),
                                     Failed.message().c_str());
    llvm::IntrusiveRefCntPtr<clang::FileManager> Files(
        new clang::FileManager(clang::FileSystemOptions(), FileSystem));
    llvm::raw_string_ostream Text(Result.Diagnostics);
    llvm::IntrusiveRefCntPtr<clang::DiagnosticOptions> Options(new clang::DiagnosticOptions);
    Listener Diagnostics(Text, Options.get());
    RecordActionFactory Action(Result, *FileSystem);
    clang::tooling::ToolInvocation Invocation(Arguments, &Action, Files.get(),
                                              std::make_shared<clang::PCHContainerOperations>());
    Invocation.setDiagnosticConsumer(&Diagnostics);
    Invocation.setDiagnosticOptions(Options.get());
    Invocation.run();
    Text.flush();
    if (!Action.Ran && !Diagnostics.Refused.empty() && Round < 8) {
      size_t Before = Arguments.size();
      for (const std::string &Refused : Diagnostics.Refused)
        llvm::erase_if(Arguments, [&](const std::string &A) {
          return A == Refused || llvm::StringRef(A).starts_with(Refused + "=");
        });
      if (Arguments.size() != Before)
        continue;
    }
    if (!Action.Ran)
      return llvm::createStringError(std::make_error_code(std::errc::invalid_argument), "%s: %s",
                                     Command.File.c_str(),
                                     Result.Diagnostics.empty() ? "no compilation in its command"
                                                                : Result.Diagnostics.c_str());
    Result.Inputs.assign(FileSystem->read().begin(), FileSystem->read().end());
    Result.Present.assign(FileSystem->present().begin(), FileSystem->present().end());
    Result.Absent.assign(FileSystem->absent().begin(), FileSystem->absent().end());
    Result.Unit.MainFile = Command.File;
    Result.Unit.Output = outputOf(Command);
    if (Result.Errors) {
      Result.Unit = {};
      Result.Unit.MainFile = Command.File;
    }
    return Result;
  }
}

} // namespace nvmove::scan
