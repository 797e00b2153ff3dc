// nvmove pool export: a pool saved by its program's own means.
#include "nvmove/PoolCommand.h"

#include "pool/Export.h"

namespace nvmove::tool {

std::string checkPool(const Arguments &A) {
  bool IsExport = A.Pool.What == PoolVerb::Export;
  if (IsExport && A.Flags.empty())
    return "which program? Name it behind --, e.g. nvmove pool export FILE -- ./program args";
  if (!IsExport && A.HasFlags)
    return "only export runs a program, which is named behind --";
  return "";
}

llvm::Expected<int> exportPool(const Arguments &A) {
  llvm::Expected<std::optional<int>> Done = pool::exportPool(A.Pool.Path, A.Pool.Call, A.Flags);
  if (!Done)
    return Done.takeError();
  if (*Done)
    llvm::errs() << "nvmove: " << A.Pool.Call << " gave " << **Done << '\n';
  return ExitComplete;
}

} // namespace nvmove::tool
