// See Names.h.
#include "plan/Names.h"

#include "llvm/Support/Path.h"

namespace nvmove::plan {

namespace {

constexpr size_t TextsShown = 6;

std::string fileOf(const std::string &Path) { return llvm::sys::path::filename(Path).str(); }

} // namespace

std::string Names::function(FunctionId Id) const {
  const FunctionInfo &F = P.function(Id);
  std::string Own = definition(Id).File;
  for (FunctionId Other = 0; Other != P.functions().size(); ++Other)
    if (const FunctionInfo &O = P.function(Other);
        Other != Id && O.Body->Symbol != None && O.Name == F.Name && definition(Other).File != Own)
      return fileOf(Own) + ":" + F.Name;
  return F.Name;
}

std::string Names::variable(GlobalId Id) const {
  const GlobalInfo &G = P.globals()[Id];
  auto File = [](const GlobalInfo &Of) { return Of.View->Unit->text(Of.Symbol->Where.File); };
  for (GlobalId Other = 0; Other != P.globals().size(); ++Other)
    if (const GlobalInfo &O = P.globals()[Other];
        Other != Id && O.Name == G.Name && File(O) != File(G))
      return fileOf(File(G)) + ":" + G.Name;
  return G.Name;
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
