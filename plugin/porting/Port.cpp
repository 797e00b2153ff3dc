// The port file carried out: see Port.h.
#include "porting/Port.h"

#include "base/Settings.h"
#include "frontend/FieldAnnotations.h"
#include "frontend/Visitor.h"

#include "clang/AST/Attr.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"
#include "llvm/Transforms/Utils/ModuleUtils.h"

using namespace clang;

namespace nvmove::plugin {
namespace {

struct Reading {
  port::PortFile Whole, File; ///< File: without the names for other sources
  bool Present = false;
  llvm::StringSet<> Found; ///< messages of entries that something in this source matches
};

Reading &reading() {
  static Reading Instance;
  return Instance;
}

/// What the linker says of an entry that nothing matched. The same wherever a source was compiled
/// from.
std::string messageOf(const port::Entry &E) {
  return llvm::formatv("{0}:{1}:{2}: '{3}' matches nothing in the program",
                       llvm::sys::path::filename(reading().File.Path), E.Line, E.Column, E.Written)
      .str();
}

/// "head.kind" in a record; null: it has no such member.
FieldDecl *fieldAt(const RecordDecl &Record, llvm::StringRef Path) {
  auto [First, Rest] = Path.split('.');
  for (FieldDecl *Field : Record.fields()) {
    const RecordDecl *Inner = Field->getType()->getBaseElementTypeUnsafe()->getAsRecordDecl();
    if (Field->getName() == First)
      return Rest.empty() ? Field : Inner ? fieldAt(*Inner, Rest) : nullptr;
    if (Field->getName().empty() && Inner)
      if (FieldDecl *Found = fieldAt(*Inner, Path))
        return Found;
  }
  return nullptr;
}

class FieldMarker : public Visitor {
public:
  explicit FieldMarker(ASTContext &Context) : Context(Context) {}

  bool VisitRecordDecl(RecordDecl *Record) override {
    const TypedefNameDecl *Alias = Record->getTypedefNameForAnonDecl();
    llvm::StringRef Name = Alias ? Alias->getName() : Record->getName();
    if (Record->isCompleteDefinition() && !Name.empty())
      mark(*Record, Name);
    return true;
  }

private:
  void mark(const RecordDecl &Record, llvm::StringRef Name) {
    const port::Fields &Marks = reading().File.Marks;
    port::forEachMark(Marks, [&](const port::Entry &E, const char *Annotation) {
      FieldDecl *Field = find(Record, Name, E);
      if (Field && (llvm::StringRef(Annotation) == "nvmove.volatile" || mayHoldAddress(*Field, E)))
        annotate(Context, *Field, Annotation, {});
    });
    for (const port::Tagged &T : Marks.Tag)
      if (FieldDecl *Field = find(Record, Name, T.Field); Field && mayHoldAddress(*Field, T.Field))
        annotate(Context, *Field, "nvmove.tagged", {number(Context, T.Bits, *Field)});
    for (const port::Decided &D : Marks.When)
      if (FieldDecl *Field = find(Record, Name, D.Field)) {
        llvm::SmallVector<Expr *> Arguments{text(Context, D.Member, *Field)};
        for (int64_t Value : D.Values)
          Arguments.push_back(number(Context, static_cast<uint64_t>(Value), *Field));
        annotate(Context, *Field, D.Unless ? "nvmove.unless" : "nvmove.when", Arguments);
      }
  }

  FieldDecl *find(const RecordDecl &Record, llvm::StringRef Name, const port::Entry &E) {
    auto [First, Path] = llvm::StringRef(E.Name).split('.');
    FieldDecl *Field = First == Name ? fieldAt(Record, Path) : nullptr;
    if (Field)
      foundInSource(E);
    return Field && isOwn(Record, *Field, E) ? Field : nullptr;
  }

  /// A mark is on the member of a record wherever the record lies. So a path may not lead through a
  /// record that has a name and may lie elsewhere, too.
  bool isOwn(const RecordDecl &Record, const FieldDecl &Field, const port::Entry &E) {
    const RecordDecl *Holder = Field.getParent();
    while (Holder->isAnonymousStructOrUnion() && isa<RecordDecl>(Holder->getDeclContext()))
      Holder = cast<RecordDecl>(Holder->getDeclContext());
    const TypedefNameDecl *Alias = Holder->getTypedefNameForAnonDecl();
    llvm::StringRef Name = Alias ? Alias->getName() : Holder->getName();
    if (Holder == &Record || Name.empty())
      return true;
    portError(
        Context, E,
        llvm::formatv("'{0}' is a member of each {1}; write '{1}.{2}', which marks it in all of "
                      "them",
                      E.Written, Name, Field.getName()));
    return false;
  }

  /// Not a number that has no room for one.
  bool mayHoldAddress(const FieldDecl &Field, const port::Entry &E) {
    QualType Type = Context.getBaseElementType(Field.getType());
    if (!Type->isArithmeticType() && !Type->isEnumeralType())
      return true;
    if (Type->isIntegralOrEnumerationType() && !Field.isBitField() &&
        Context.getTypeSize(Type) == Context.getTypeSize(Context.VoidPtrTy))
      return true;
    portError(Context, E,
              llvm::formatv("'{0}' is of type '{1}', which holds no address", E.Written,
                            Field.getType().getAsString()));
    return false;
  }

  ASTContext &Context;
};

/// The folders of a source are known also where the compiler is called in the last of them.
std::string wholePath(llvm::StringRef Source) {
  llvm::SmallString<128> Path(Source);
  if (llvm::sys::fs::make_absolute(Path))
    return Source.str();
  llvm::sys::path::remove_dots(Path, /*remove_dot_dot=*/true);
  return Path.str().str();
}

/// A path in the port file begins where the port file lies.
std::string besidePort(llvm::StringRef Path) {
  llvm::SmallString<128> Made(llvm::sys::path::parent_path(reading().File.Path));
  llvm::sys::path::append(Made, Path);
  return llvm::sys::path::is_absolute(Path) ? Path.str() : Made.str().str();
}

} // namespace

const port::PortFile *portFile() { return reading().Present ? &reading().File : nullptr; }

void portError(ASTContext &Context, const port::Entry &E, const std::string &Message) {
  DiagnosticsEngine &Diagnostics = Context.getDiagnostics();
  unsigned Id = Diagnostics.getCustomDiagID(DiagnosticsEngine::Error, "%0:%1:%2: %3");
  Diagnostics.Report(Id) << reading().File.Path << E.Line << E.Column << Message;
}

void portError(llvm::LLVMContext &Context, const port::Entry &E, const std::string &Message) {
  Context.emitError(
      llvm::formatv("{0}:{1}:{2}: {3}", reading().File.Path, E.Line, E.Column, Message).str());
}

void foundInSource(const port::Entry &E) { reading().Found.insert(messageOf(E)); }

const port::Entry *findEntry(llvm::ArrayRef<port::Entry> List, llvm::StringRef Name) {
  const port::Entry *Found = nullptr;
  for (const port::Entry &E : List)
    if (E.Name == Name) { // perhaps once for all sources, once for this one
      foundInSource(E);
      Found = Found ? Found : &E;
    }
  return Found;
}

llvm::Error readPort(llvm::StringRef Path) {
  if (settings().Port.empty())
    return llvm::Error::success();
  llvm::Expected<port::PortFile> File = port::readPortFile(settings().Port);
  if (!File)
    return File.takeError();
  reading().Whole = *File;
  reading().File = std::move(*File);
  reading().Present = true;
  port::keepEntriesOf(reading().File, wholePath(Path));
  for (const port::Entry &E : reading().File.Atomic)
    settings().Atomic.insert(E.Name);
  for (const port::Entry &E : reading().File.Commit)
    settings().Commit.insert(E.Name);
  for (const port::Entry &E : reading().File.Split)
    settings().Split.insert(E.Name);
  for (const port::Entry &E : reading().File.Unsafe)
    settings().UnsafeFiles.push_back(besidePort(E.Written));
  return llvm::Error::success();
}

void markFields(ASTContext &Context, DeclGroupRef Group) {
  if (!reading().Present)
    return;
  FieldMarker Marker(Context);
  for (Decl *D : Group)
    Marker.traverse(D);
}

namespace {

llvm::Constant *textIn(llvm::Module &M, const std::string &Text) {
  auto *Data = llvm::ConstantDataArray::getString(M.getContext(), Text);
  return new llvm::GlobalVariable(M, Data->getType(), true, llvm::GlobalValue::PrivateLinkage, Data,
                                  "nvmove.text");
}

/// Under a name that the runtime looks for (runtime/port/port.h); each object that has it has the
/// same, or else that of \p Decides is taken.
llvm::GlobalValue *offer(llvm::Module &M, llvm::StringRef Name, llvm::Constant *Value,
                         bool Decides = false) {
  auto Linkage =
      Decides ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::LinkOnceAnyLinkage;
  auto *Made = new llvm::GlobalVariable(M, Value->getType(), true, Linkage, Value, Name);
  if (!Decides)
    Made->setComdat(M.getOrInsertComdat(Name));
  return Made;
}

/// A copy for inlining is no definition: it may be that of a function of the C library.
bool defines(const llvm::Module &M, llvm::StringRef Name) {
  const llvm::Function *F = Name.empty() ? nullptr : M.getFunction(Name);
  return F && !F->isDeclaration() && !F->hasAvailableExternallyLinkage();
}

/// What the runtime is told of the port file. In the objects of `main` and of the functions of `load`: these
/// functions, and the settings of the pool. In that of `main`: whether any object of the program is that
/// of `program`. In each that calls fork: that.
void tellRuntime(llvm::Module &M, bool IsProgram,
                 llvm::SmallVectorImpl<llvm::GlobalValue *> &Kept) {
  const port::PortFile &File = reading().File;
  bool HasMain = defines(M, "main"), HasLoad = false;
  std::string Names;
  for (const port::Load &L : reading().Whole.Loads)
    Names += (Names.empty() ? "'" : " or '") + L.Function.Written + "'";
  for (const port::Load &L : File.Loads)
    HasLoad |= defines(M, L.Function.Name);
  if (!Names.empty() && (HasMain || HasLoad))
    Kept.push_back(
        offer(M, "__nvm_load_names", llvm::ConstantDataArray::getString(M.getContext(), Names)));
  std::string Settings;
  port::forEachSetting(File.Pool, [&](llvm::StringRef Name, llvm::StringRef Value) {
    Settings += Name.str() + "=" + Value.str() + '\0';
  });
  if (!Settings.empty() && (HasMain || HasLoad))
    Kept.push_back(offer(M, "__nvm_port_settings",
                         llvm::ConstantDataArray::getString(M.getContext(), Settings),
                         /*Decides=*/HasMain));
  std::string Message = llvm::formatv(
      "{0}: 'program: {1}' names no source of this program, so entries that match nothing were not "
      "told; write the last part of the path of a source",
      llvm::sys::path::filename(File.Path), File.Program);
  llvm::Type *Byte = llvm::Type::getInt8Ty(M.getContext());
  if (IsProgram) {
    Kept.push_back(offer(M, Message, llvm::ConstantInt::get(Byte, 0)));
  } else if (HasMain) {
    auto *Program = new llvm::GlobalVariable(M, Byte, true, llvm::GlobalValue::ExternalWeakLinkage,
                                             nullptr, Message);
    Kept.push_back(
        offer(M, "__nvm_port_main", llvm::ConstantStruct::getAnon({textIn(M, Message), Program})));
  }
  if (M.getFunction("__nvm_port_fork")) // PortCode.cpp
    Kept.push_back(offer(M, "__nvm_port_forks", llvm::ConstantInt::get(Byte, 1)));
}

} // namespace

void emitPortEntries(llvm::Module &M) {
  if (!reading().Present)
    return;
  const port::PortFile &File = reading().File;
  bool IsProgram = port::sameSource(wholePath(M.getSourceFileName()), File.Program);
  for (const auto *List : {&File.Atomic, &File.Commit, &File.Split})
    for (const port::Entry &E : *List)
      if (defines(M, E.Name))
        foundInSource(E);
  llvm::Type *Byte = llvm::Type::getInt8Ty(M.getContext());
  llvm::SmallVector<llvm::GlobalValue *> Kept;
  llvm::SmallVector<llvm::Constant *> All;
  port::forEachEntry(reading().Whole, [&](const port::Entry &E) {
    std::string Name = messageOf(E);
    bool Found = reading().Found.contains(Name);
    if (M.getNamedGlobal(Name) || (!Found && !IsProgram))
      return;
    auto *Symbol = new llvm::GlobalVariable(
        M, Byte, true,
        Found ? llvm::GlobalValue::LinkOnceODRLinkage : llvm::GlobalValue::ExternalLinkage,
        Found ? llvm::ConstantInt::get(Byte, 0) : nullptr, Name);
    if (Found) {
      Symbol->setComdat(M.getOrInsertComdat(Name));
      Kept.push_back(Symbol);
    }
    All.push_back(Symbol);
  });
  if (IsProgram && !All.empty()) {
    auto *Type = llvm::ArrayType::get(All.front()->getType(), All.size());
    Kept.push_back(new llvm::GlobalVariable(M, Type, true, llvm::GlobalValue::PrivateLinkage,
                                            llvm::ConstantArray::get(Type, All), "nvmove.port"));
  }
  tellRuntime(M, IsProgram, Kept);
  if (!Kept.empty())
    llvm::appendToUsed(M, Kept);
}

} // namespace nvmove::plugin
