// nvmove pool convert: a pool for a program whose types have changed.
#include "nvmove/PoolCommand.h"

#include "pool/Convert.h"

namespace nvmove::tool {

llvm::Expected<int> convertPool(const Arguments &A) {
  pool::FieldMap Map;
  if (!A.Pool.Map.empty()) {
    llvm::Expected<pool::FieldMap> Read = pool::readFieldMap(A.Pool.Map);
    if (!Read)
      return Read.takeError();
    Map = std::move(*Read);
  }
  std::optional<pool::Layouts> Program;
  if (!A.Pool.Layouts.empty()) {
    llvm::Expected<pool::Layouts> Read = pool::Layouts::read(A.Pool.Layouts);
    if (!Read)
      return Read.takeError();
    Program = std::move(*Read);
  }
  llvm::Expected<pool::Converted> Done = pool::convert(
      A.Pool.Path, A.Pool.Copy, A.Pool.Size, Program ? &*Program : nullptr, Map, showProgress);
  if (!Done)
    return Done.takeError();
  if (llvm::Error E = print(A, [&](llvm::raw_ostream &OS) {
        if (A.Format == "json") {
          printJson(OS, llvm::json::Object{{"schema_version", 1},
                                           {"path", A.Pool.Path},
                                           {"made", A.Pool.Copy},
                                           {"blocks", Done->Blocks},
                                           {"blocks_changed", Done->Changed},
                                           {"pointers", Done->Pointers},
                                           {"notes", llvm::json::Array(Done->Notes)}});
          return;
        }
        for (const std::string &Note : Done->Notes)
          OS << A.Pool.Copy << ": " << Note << '\n';
        OS << A.Pool.Copy << ": " << Done->Blocks << " blocks, " << Done->Changed
           << " of types that changed, " << Done->Pointers << " pointers\n";
      }))
    return std::move(E);
  return ExitComplete;
}

} // namespace nvmove::tool
