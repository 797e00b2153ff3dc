// See Program.h. Choosing the units is in LinkUnits.cpp.
#include "solve/program/Program.h"

#include "solve/Heuristics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"

namespace nvmove::solve {

namespace {

/// Headers of a library that the program finds with -I are the library's still.
bool isInstalled(llvm::StringRef File) {
  return File.starts_with("/usr/include/") || File.starts_with("/usr/local/include/") ||
         File.starts_with("/usr/lib/");
}

} // namespace

using facts::SymbolKind;
using facts::TypeKind;

llvm::StringRef plainName(llvm::StringRef Name) {
  llvm::StringRef Plain = Name;
  Plain.consume_front("__builtin_");
  if (Plain.consume_back("_chk"))
    Plain.consume_front("__");
  Plain.consume_back("64");
  Plain.consume_front("__isoc99_");
  return Plain.empty() ? Name : Plain;
}

const Shape &FunctionInfo::shapeOf(facts::TypeId Type) const {
  static const Shape Nothing;
  return Type == None ? Nothing : View->Shapes[Type];
}

Program::Program(std::vector<facts::TranslationUnit> Read, llvm::ArrayRef<uint32_t> Seeds)
    : Units(std::move(Read)) {
  choose(Seeds);
  Views.reserve(Units.size());
  for (size_t I = 0; I != Units.size(); ++I)
    if (Chosen[I])
      Views.push_back({&Units[I], {}, {}, {}, {}});
  for (UnitView &View : Views)
    bindRecords(View);
  uniteRecords();
  completeRecords();
  for (UnitView &View : Views)
    bind(View);
  for (UnitView &View : Views)
    bindSymbols(View);
}

RecordKey Program::internRecord(const facts::TranslationUnit &Unit, const facts::Record &Record) {
  std::string Name = Unit.text(Record.Name);
  std::string Key = Record.Complete
                        ? (llvm::Twine(Name) + "@" + Unit.text(Record.Where.File) + ":" +
                           llvm::Twine(Record.Where.Line) + ":" + llvm::Twine(Record.Where.Column) +
                           ":" + llvm::Twine(Record.Size))
                              .str()
                        : Name;
  auto [It, New] = RecordKeys.try_emplace(Key, static_cast<RecordKey>(Records.size()));
  if (New) {
    RecordInfo &Made = Records.emplace_back();
    Made.Name = Name;
    Made.Union = Record.Union;
    Made.Complete = Record.Complete;
    Made.File = Unit.text(Record.Where.File);
    Made.System = Record.System || isInstalled(Made.File);
    Made.Line = Record.Where.Line;
    Made.Column = Record.Where.Column;
    Made.Size = Record.Size;
  }
  return It->second;
}

void Program::bindRecords(UnitView &View) {
  const facts::TranslationUnit &Unit = *View.Unit;
  for (const facts::Record &Record : Unit.Records) {
    RecordKey Key = internRecord(Unit, Record);
    View.Records.push_back(Key);
    for (facts::StringId Alias : Record.Aliases)
      if (!llvm::is_contained(Records[Key].Aliases, Unit.text(Alias)))
        Records[Key].Aliases.push_back(Unit.text(Alias));
  }
  for (size_t I = 0; I != Unit.Records.size(); ++I)
    if (Unit.Records[I].Parent != None)
      Records[View.Records[I]].Parent = View.Records[Unit.Records[I].Parent];
}

Shape Program::shape(const UnitView &View, facts::TypeId Type) const {
  const facts::TranslationUnit &Unit = *View.Unit;
  Shape Made;
  Made.Size = Unit.Types[Type].Size;
  Made.Array = Unit.Types[Type].Kind == TypeKind::Array;
  Made.ConstPointee = Unit.Types[Type].ConstPointee;
  for (unsigned Steps = 0; Steps != 64; ++Steps) {
    const facts::Type &At = Unit.Types[Type];
    switch (At.Kind) {
    case TypeKind::Pointer:
      ++Made.Pointers;
      Type = At.Inner;
      continue;
    case TypeKind::Array:
      Type = At.Inner;
      continue;
    case TypeKind::Record:
      Made.What = Core::Record;
      Made.Record = View.Records[At.Inner];
      return Made;
    case TypeKind::Function:
      Made.What = Core::Function;
      return Made;
    case TypeKind::Void:
      Made.What = Core::Void;
      return Made;
    case TypeKind::Scalar:
      Made.What = At.Size == 1 ? Core::Char : Core::Other;
      Made.Address = At.Size >= sizeof(void *) &&
                     llvm::StringRef(Unit.text(At.Spelling)).starts_with("unsigned");
      return Made;
    }
  }
  return Made;
}

void Program::bind(UnitView &View) {
  const facts::TranslationUnit &Unit = *View.Unit;
  for (facts::TypeId Type = 0; Type != Unit.Types.size(); ++Type) {
    View.Shapes.push_back(shape(View, Type));
    uint32_t Signature = None;
    facts::TypeId Function = Type;
    if (Unit.Types[Type].Kind == TypeKind::Pointer)
      Function = Unit.Types[Type].Inner;
    if (Unit.Types[Function].Kind == TypeKind::Function)
      Signature = Signatures
                      .try_emplace(Unit.text(Unit.Types[Function].Spelling),
                                   static_cast<uint32_t>(Signatures.size()))
                      .first->second;
    View.Signatures.push_back(Signature);
  }
  for (size_t I = 0; I != Unit.Records.size(); ++I) {
    RecordInfo &Info = Records[View.Records[I]];
    if (!Unit.Records[I].Complete || !Info.Fields.empty())
      continue;
    for (const facts::Field &Field : Unit.Records[I].Fields)
      Info.Fields.push_back({Unit.text(Field.Name), Field.Offset, View.Shapes[Field.Type]});
  }
  for (const facts::Function &Body : Unit.Functions) {
    FunctionInfo Made;
    Made.View = &View;
    Made.Body = &Body;
    if (Body.Symbol != None) {
      const facts::Symbol &Symbol = Unit.Symbols[Body.Symbol];
      Made.Name = Unit.text(Symbol.Name);
      Made.Signature = Symbol.Type == None ? None : View.Signatures[Symbol.Type];
      if (Symbol.External) {
        auto [It, New] =
            FunctionNames.try_emplace(Made.Name, static_cast<FunctionId>(Functions.size()));
        if (!New && Functions[It->second].symbol().Weak && !Symbol.Weak)
          It->second = static_cast<FunctionId>(Functions.size());
      }
    }
    Functions.push_back(std::move(Made));
  }
}

void Program::bindSymbols(UnitView &View) {
  const facts::TranslationUnit &Unit = *View.Unit;
  View.Entities.resize(Unit.Symbols.size());
  for (FunctionId Id = 0; Id != Functions.size(); ++Id)
    if (Functions[Id].View == &View && Functions[Id].Body->Symbol != None)
      View.Entities[Functions[Id].Body->Symbol] = {Entity::Function, Id};
  for (facts::SymbolId Id = 0; Id != Unit.Symbols.size(); ++Id) {
    const facts::Symbol &Symbol = Unit.Symbols[Id];
    Entity &Meant = View.Entities[Id];
    const std::string &Name = Unit.text(Symbol.Name);
    if (Symbol.Kind == SymbolKind::Local) {
      Meant = {Entity::Local, Id};
    } else if (Symbol.Kind == SymbolKind::Global) {
      GlobalId Next = static_cast<GlobalId>(Globals.size());
      GlobalId Known = Symbol.External ? GlobalNames.try_emplace(Name, Next).first->second : Next;
      if (Known == Next)
        Globals.push_back(
            {Name, &View, &Symbol, Symbol.Type == None ? Shape() : View.Shapes[Symbol.Type]});
      else if (Symbol.Defined)
        Globals[Known] = {Name, &View, &Symbol, View.Shapes[Symbol.Type]};
      Meant = {Entity::Global, Known};
    } else if (Meant.What == Entity::Unknown) {
      if (auto It = FunctionNames.find(Name); Symbol.External && It != FunctionNames.end()) {
        Meant = {Entity::Function, It->second};
        continue;
      }
      std::string Plain = plainName(Name).str();
      auto [It, New] = ExternalNames.try_emplace(Plain, static_cast<ExternalId>(Externals.size()));
      if (New)
        Externals.push_back({Plain, Symbol.NoReturn, Symbol.Formats});
      Meant = {Entity::External, It->second};
    }
  }
}

RecordKey Program::named(RecordKey Key) const {
  for (unsigned Steps = 0; Steps != 32 && Records[Key].Name.empty(); ++Steps) {
    if (Records[Key].Parent == None)
      break;
    Key = Records[Key].Parent;
  }
  return Key;
}

/// As Clang calls what has no name.
static std::string placeName(const RecordInfo &Info) {
  llvm::StringRef File = llvm::sys::path::filename(Info.File);
  return ("(unnamed " + llvm::Twine(Info.Union ? "union" : "struct") + " at " + File + ":" +
          llvm::Twine(Info.Line) + ")")
      .str();
}

std::string Program::displayName(RecordKey Key) const {
  const RecordInfo &Info = Records[named(Key)];
  if (Info.Name.empty())
    return placeName(Info);
  return (Info.Union ? "union " : "struct ") + Info.Name;
}

PersistentType Program::describe(RecordKey Key) const {
  const RecordInfo &Info = Records[Key];
  PersistentType Made;
  Made.Name = Info.Name.empty() ? placeName(Info) : Info.Name;
  Made.Aliases = Info.Aliases;
  if (!Info.Name.empty() && !llvm::is_contained(Info.Aliases, Info.Name))
    Made.Aliases.push_back((Info.Union ? "union " : "struct ") + Info.Name);
  Made.Union = Info.Union;
  Made.Definition = {Info.File, Info.Line, Info.Column};
  Made.SizeBytes = Info.Size;
  return Made;
}

bool Program::extends(RecordKey Longer, RecordKey Shorter) const {
  const RecordInfo &Long = Records[Longer], &Short = Records[Shorter];
  if (Short.Fields.size() < 2 || Long.Fields.size() <= Short.Fields.size() || Long.Union)
    return false;
  for (size_t I = 0; I != Short.Fields.size(); ++I) {
    const RecordField &A = Long.Fields[I], &B = Short.Fields[I];
    if (A.Offset != B.Offset || A.Name != B.Name || A.Type.What != B.Type.What ||
        A.Type.Pointers != B.Type.Pointers)
      return false;
  }
  return true;
}

void Program::recordsAt(RecordKey Outer, uint64_t Offset, std::vector<RecordKey> &Found,
                        unsigned Depth) const {
  const RecordInfo &Info = Records[Outer];
  if (Offset == 0)
    Found.push_back(Outer);
  if (Found.size() > 64)
    return;
  for (const RecordField &Field : Info.Fields) {
    if (Field.Type.What != Core::Record || Field.Type.Pointers != 0 || Field.Offset > Offset)
      continue;
    uint64_t Inside = Offset - Field.Offset;
    uint64_t Element = Records[Field.Type.Record].Size;
    if (Inside < std::max<uint64_t>(Field.Type.Size, 1) && Element && Depth < NestingMax)
      recordsAt(Field.Type.Record, Inside % Element, Found, Depth + 1);
  }
}

} // namespace nvmove::solve
