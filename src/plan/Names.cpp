// See Names.h.
#include "plan/Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

namespace nvmove::plan {

namespace {

constexpr size_t TextsShown = 6;

std::string fileOf(const std::string &Path) { return llvm::sys::path::filename(Path).str(); }

} // namespace

/// The shortest end of \p Own, from a folder's name on, that no path of \p Others ends in.
std::string Names::apart(const std::string &Own, const std::set<std::string> &Others) const {
  llvm::StringRef Path = Own;
  for (size_t At = Path.rfind('/'); At != llvm::StringRef::npos && At != 0;
       At = Path.rfind('/', At)) {
    llvm::StringRef End = Path.drop_front(At + 1);
    if (llvm::none_of(Others,
                      [&](llvm::StringRef Other) { return Other.ends_with(("/" + End).str()); }))
      return End.str();
  }
  return Own;
}

std::string Names::function(FunctionId Id) const {
  const FunctionInfo &F = P.function(Id);
  std::string Own = definition(Id).File;
  std::set<std::string> Others;
  for (FunctionId Other = 0; Other != P.functions().size(); ++Other)
    if (const FunctionInfo &O = P.function(Other); O.Body->Symbol != None && O.Name == F.Name)
      Others.insert(definition(Other).File);
  Others.erase(Own);
  return Others.empty() ? F.Name : apart(Own, Others) + ":" + F.Name;
}

std::string Names::variable(GlobalId Id) const {
  const GlobalInfo &G = P.globals()[Id];
  auto File = [](const GlobalInfo &Of) { return Of.View->Unit->text(Of.Symbol->Where.File); };
  std::set<std::string> Others;
  for (const GlobalInfo &O : P.globals())
    if (O.Name == G.Name)
      Others.insert(File(O));
  Others.erase(File(G));
  return Others.empty() ? G.Name : apart(File(G), Others) + ":" + G.Name;
}

std::string Names::member(RecordKey Outer, int64_t Offset) const {
  for (const RecordField &Field : P.record(Outer).Fields)
    if (Offset >= static_cast<int64_t>(Field.Offset) &&
        Offset < static_cast<int64_t>(Field.Offset + std::max<uint64_t>(Field.Type.Size, 1))) {
      if (!Field.Name.empty())
        return Field.Name;
      return Field.Type.What == Core::Record && !Field.Type.Pointers
                 ? member(Field.Type.Record, Offset - static_cast<int64_t>(Field.Offset))
                 : "";
    }
  return "";
}

FunctionId findMain(const Program &P) {
  for (FunctionId Id = 0; Id != P.functions().size(); ++Id)
    if (const FunctionInfo &F = P.function(Id);
        F.Name == "main" && F.Body->Symbol != None && F.symbol().External)
      return Id;
  return None;
}

std::string listed(const std::set<std::string> &Texts) {
  std::string All;
  size_t Count = 0;
  for (const std::string &Each : Texts)
    if (++Count <= TextsShown)
      All += (Count == 1 ? "" : ", ") + Each;
  return Count > TextsShown ? All + " and " + std::to_string(Count - TextsShown) + " more" : All;
}

std::string shown(const SourcePlace &Where) {
  if (!Where.Line)
    return fileOf(Where.File);
  return fileOf(Where.File) + ":" + std::to_string(Where.Line);
}

} // namespace nvmove::plan
