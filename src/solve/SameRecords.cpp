// Which records of different units are one: see Program.h.
#include "solve/Program.h"

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

} // namespace

/// The unit that defines each function that others can call.
llvm::StringMap<const UnitView *> Program::definers() const {
  llvm::StringMap<const UnitView *> Found;
  for (const UnitView &View : Views)
    for (const facts::Symbol &Symbol : View.Unit->Symbols)
      if (Symbol.Kind == SymbolKind::Function && Symbol.Defined && Symbol.External)
        Found.try_emplace(View.Unit->text(Symbol.Name), &View);
  return Found;
}

/// A header may be copied: records of the same tag and members that stand in different places are
/// one where a function takes or gives them that is declared with the one and defined with the
/// other. Without such a function they stay apart: two libraries, each with its own table.
void Program::uniteRecords() {
  llvm::StringMap<std::set<RecordKey>> Alike;
  for (const UnitView &View : Views)
    for (size_t I = 0; I != View.Records.size(); ++I)
      if (const facts::Record &Each = View.Unit->Records[I]; Each.Complete && Each.Name)
        Alike[identity(*View.Unit, Each)].insert(View.Records[I]);
  std::map<RecordKey, llvm::StringRef> Copied;
  for (const auto &Same : Alike)
    if (Same.second.size() > 1)
      for (RecordKey Key : Same.second)
        Copied[Key] = Same.first();
  std::map<RecordKey, RecordKey> One;
  auto Find = [&](RecordKey Key) {
    for (auto It = One.find(Key); It != One.end(); It = One.find(Key))
      Key = It->second;
    return Key;
  };
  llvm::StringMap<const UnitView *> Definers = Copied.empty() ? decltype(definers()){} : definers();
  for (const UnitView &View : Views)
    for (const facts::Symbol &Symbol : View.Unit->Symbols) {
      if (Symbol.Kind != SymbolKind::Function || Symbol.Defined || Symbol.Type == None)
        continue;
      auto Definer = Definers.find(View.Unit->text(Symbol.Name));
      if (Definer == Definers.end())
        continue;
      llvm::StringRef Signature = View.Unit->text(View.Unit->Types[Symbol.Type].Spelling);
      for (RecordKey Here : View.Records) {
        auto Mine = Copied.find(Here);
        if (Mine == Copied.end() || !Signature.contains(Records[Here].Name))
          continue;
        for (RecordKey There : Definer->second->Records)
          if (auto Its = Copied.find(There); Its != Copied.end() && Its->second == Mine->second)
            if (RecordKey A = Find(Here), B = Find(There); A != B)
              One[std::max(A, B)] = std::min(A, B);
      }
    }
  for (UnitView &View : Views)
    for (RecordKey &Key : View.Records)
      Key = Find(Key);
  for (RecordInfo &Info : Records)
    if (Info.Parent != None)
      Info.Parent = Find(Info.Parent);
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
