// Which records of different units are one: see Program.h.
#include "solve/program/Program.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/Twine.h"

namespace nvmove::solve {

using facts::SymbolKind;

namespace {

/// Tag, size and members: what makes records of two units one type, as C has it.
std::string identity(const facts::TranslationUnit &Unit, const facts::Record &Record) {
  std::string Key = (llvm::Twine(Unit.text(Record.Name)) + "@" + llvm::Twine(Record.Size)).str();
  for (const facts::Field &Field : Record.Fields)
    Key += (llvm::Twine(":") + Unit.text(Field.Name) + "+" + llvm::Twine(Field.Offset)).str();
  return Key;
}

/// The record at the core of \p Type, through pointers and arrays.
uint32_t recordIn(const facts::TranslationUnit &Unit, facts::TypeId Type) {
  while (Type != None && (Unit.Types[Type].Kind == facts::TypeKind::Pointer ||
                          Unit.Types[Type].Kind == facts::TypeKind::Array))
    Type = Unit.Types[Type].Inner;
  return Type != None && Unit.Types[Type].Kind == facts::TypeKind::Record ? Unit.Types[Type].Inner
                                                                          : None;
}

} // namespace

/// Records that are one, and with them what their members are made of.
class SameRecords {
public:
  RecordKey find(RecordKey Key) const {
    for (auto It = One.find(Key); It != One.end(); It = One.find(Key))
      Key = It->second;
    return Key;
  }

  void unite(const UnitView &Mine, uint32_t Here, const UnitView &Its, uint32_t There) {
    RecordKey A = find(Mine.Records[Here]), B = find(Its.Records[There]);
    const facts::Record &Left = Mine.Unit->Records[Here], &Right = Its.Unit->Records[There];
    if (A == B || !Left.Complete || !Right.Complete ||
        identity(*Mine.Unit, Left) != identity(*Its.Unit, Right))
      return;
    One[std::max(A, B)] = std::min(A, B);
    for (size_t I = 0; I != Left.Fields.size(); ++I) {
      uint32_t Inner = recordIn(*Mine.Unit, Left.Fields[I].Type);
      uint32_t Other = recordIn(*Its.Unit, Right.Fields[I].Type);
      if (Inner != None && Other != None)
        unite(Mine, Inner, Its, Other);
    }
  }

private:
  std::map<RecordKey, RecordKey> One;
};

/// The unit that defines each function that others can call.
llvm::StringMap<const UnitView *> Program::definers() const {
  llvm::StringMap<const UnitView *> Found;
  for (const UnitView &View : Views)
    for (const facts::Symbol &Symbol : View.Unit->Symbols)
      if (Symbol.Kind == SymbolKind::Function && Symbol.Defined && Symbol.External)
        Found.try_emplace(View.Unit->text(Symbol.Name), &View);
  return Found;
}

/// Of each variable, the record in its definition and in every declaration.
void Program::uniteByVariables(SameRecords &Same) const {
  llvm::StringMap<std::pair<const UnitView *, uint32_t>> Variables;
  for (bool Defined : {true, false})
    for (const UnitView &View : Views)
      for (const facts::Symbol &Symbol : View.Unit->Symbols) {
        if (Symbol.Kind != SymbolKind::Global || !Symbol.External || Symbol.Defined != Defined ||
            recordIn(*View.Unit, Symbol.Type) == None)
          continue;
        uint32_t Here = recordIn(*View.Unit, Symbol.Type);
        auto [It, New] = Variables.try_emplace(View.Unit->text(Symbol.Name), &View, Here);
        if (!New)
          Same.unite(View, Here, *It->second.first, It->second.second);
      }
}

/// A header may be copied, or its records repeated in each file: those of the same tag and members
/// that stand in different places are one where a function takes or gives them that is declared
/// with the one and defined with the other, or a variable is; so are those that their members are
/// made of. Without such a function or variable they stay apart: two libraries, each with its own
/// table.
void Program::uniteRecords() {
  std::map<std::string, std::set<RecordKey>> Alike;
  for (const UnitView &View : Views)
    for (size_t I = 0; I != View.Records.size(); ++I)
      if (const facts::Record &Each = View.Unit->Records[I]; Each.Complete)
        Alike[identity(*View.Unit, Each)].insert(View.Records[I]);
  std::set<RecordKey> Copied;
  for (const auto &Same : Alike)
    if (Same.second.size() > 1)
      Copied.insert(Same.second.begin(), Same.second.end());
  if (Copied.empty())
    return;
  SameRecords Same;
  llvm::StringMap<const UnitView *> Definers = definers();
  for (const UnitView &View : Views)
    for (const facts::Symbol &Symbol : View.Unit->Symbols) {
      if (Symbol.Kind != SymbolKind::Function || Symbol.Defined || Symbol.Type == None)
        continue;
      auto Definer = Definers.find(View.Unit->text(Symbol.Name));
      if (Definer == Definers.end())
        continue;
      llvm::StringRef Signature = View.Unit->text(View.Unit->Types[Symbol.Type].Spelling);
      for (uint32_t Here = 0; Here != View.Records.size(); ++Here)
        if (const std::string &Name = View.Unit->text(View.Unit->Records[Here].Name);
            Copied.count(View.Records[Here]) && !Name.empty() && Signature.contains(Name))
          for (uint32_t There = 0; There != Definer->second->Records.size(); ++There)
            if (Copied.count(Definer->second->Records[There]))
              Same.unite(View, Here, *Definer->second, There);
    }
  uniteByVariables(Same);
  for (UnitView &View : Views)
    for (RecordKey &Key : View.Records)
      Key = Same.find(Key);
  for (RecordInfo &Info : Records)
    if (Info.Parent != None)
      Info.Parent = Same.find(Info.Parent);
}

/// Of several complete records called \p Name, the one that is meant where \p View leaves it
/// incomplete: a unit that defines a function which is called there with it says which.
RecordKey Program::meant(const UnitView &View, const std::string &Name,
                         const std::vector<RecordKey> &Complete,
                         const llvm::StringMap<const UnitView *> &Definers) const {
  const facts::TranslationUnit &Unit = *View.Unit;
  for (const facts::Symbol &Symbol : Unit.Symbols) {
    if (Complete.size() == 1 || Symbol.Kind != SymbolKind::Function || Symbol.Type == None ||
        !Symbol.External)
      continue;
    auto Definer = Definers.find(Unit.text(Symbol.Name));
    llvm::StringRef Signature = Unit.text(Unit.Types[Symbol.Type].Spelling);
    if (Definer == Definers.end() || !Signature.contains(Name))
      continue;
    for (RecordKey Key : Definer->second->Records)
      if (llvm::is_contained(Complete, Key))
        return Key;
  }
  return Complete.front();
}

/// An incomplete record stands for the complete one of its name.
void Program::completeRecords() {
  llvm::StringMap<std::vector<RecordKey>> ByName;
  for (RecordKey Key = 0; Key != Records.size(); ++Key)
    if (Records[Key].Complete && !Records[Key].Name.empty())
      ByName[Records[Key].Name].push_back(Key);
  llvm::StringMap<const UnitView *> Definers = definers();
  std::vector<std::pair<RecordKey *, RecordKey>> Completed;
  for (UnitView &View : Views)
    for (RecordKey &Key : View.Records)
      if (!Records[Key].Complete)
        if (auto It = ByName.find(Records[Key].Name); It != ByName.end())
          Completed.push_back({&Key, meant(View, Records[Key].Name, It->second, Definers)});
  for (auto [Key, Meant] : Completed) {
    for (const std::string &Alias : Records[*Key].Aliases)
      if (!llvm::is_contained(Records[Meant].Aliases, Alias))
        Records[Meant].Aliases.push_back(Alias);
    *Key = Meant;
  }
}

} // namespace nvmove::solve
