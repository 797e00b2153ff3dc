// nvmove pool repair: what was mended, what was not, and whether it is sound now.
#include "nvmove/PoolCommand.h"

#include "pool/Census.h"

#include "nvmove/repair.h"

namespace nvmove::tool {

namespace {

struct News {
  std::vector<std::string> Mended, Left;
};

void hear(void *Context, nvm_repair_news What, const char *Line) {
  auto &Heard = *static_cast<News *>(Context);
  (What == NVM_REPAIR_MENDED ? Heard.Mended : Heard.Left).push_back(Line);
}

llvm::json::Object toJson(const Arguments &A, const News &Heard, const nvm_repair &How,
                          const std::vector<std::string> &Faults) {
  return llvm::json::Object{
      {"schema_version", 1},
      {"path", A.Pool.Path},
      {"dry_run", A.Pool.DryRun},
      {"mended", llvm::json::Array(Heard.Mended)},
      {"left", llvm::json::Array(Heard.Left)},
      {"kept_in", *How.copy ? llvm::json::Value(How.copy) : llvm::json::Value(nullptr)},
      {"faults", llvm::json::Array(Faults)}};
}

void toText(llvm::raw_ostream &OS, const Arguments &A, const News &Heard, const nvm_repair &How,
            const pool::Findings &Found) {
  const std::string &Path = A.Pool.Path;
  for (const std::string &Line : Heard.Mended)
    OS << Path << (A.Pool.DryRun ? ": would mend: " : ": mended: ") << Line << '\n';
  for (const std::string &Line : Heard.Left)
    OS << Path << ": not mended: " << Line << '\n';
  if (*How.copy)
    OS << Path << ": what was changed is kept in " << How.copy << '\n';
  for (const std::string &Fault : Found.Faults)
    OS << Path << ": still wrong: " << Fault << '\n';
  if (!Heard.Mended.empty() || !Heard.Left.empty())
    return;
  OS << Path << ": nothing is wrong";
  if (Found.Untyped)
    OS << ", as far as can be seen: what " << Found.Untyped
       << " blocks without type hold was not looked at";
  OS << '\n';
}

/// The other options say what a repair may do, and mean nothing where one is put back.
llvm::Expected<int> putBack(const PoolArguments &P) {
  if (P.DryRun || P.DropLog || P.NullDangling || P.ForgetTypes || P.Root)
    return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                   "--undo goes with no other option of a repair, and changes the "
                                   "file; leave --dry-run, --null-dangling and the like away");
  if (nvm_pool_repair_undo(P.Path.c_str(), P.Undo.c_str()))
    return pool::lastError();
  return ExitComplete;
}

} // namespace

llvm::Expected<int> repairPool(const Arguments &A) {
  if (!A.Pool.Undo.empty())
    return putBack(A.Pool);
  News Heard;
  nvm_repair How = {};
  How.dry_run = A.Pool.DryRun;
  How.drop_log = A.Pool.DropLog;
  How.null_dangling = A.Pool.NullDangling;
  How.forget_types = A.Pool.ForgetTypes;
  How.root = A.Pool.Root;
  How.report = hear;
  How.context = &Heard;
  if (nvm_pool_repair(A.Pool.Path.c_str(), &How) < 0)
    return pool::lastError();
  pool::Findings Found;
  if (!A.Pool.DryRun) {
    llvm::Expected<pool::Findings> Now = pool::checkPool(A.Pool.Path);
    if (Now)
      Found = std::move(*Now);
    else
      Found.Faults.push_back(llvm::toString(Now.takeError()));
  }
  if (llvm::Error E = print(A, [&](llvm::raw_ostream &OS) {
        if (A.Format == "json")
          printJson(OS, toJson(A, Heard, How, Found.Faults));
        else
          toText(OS, A, Heard, How, Found);
      }))
    return std::move(E);
  return Heard.Left.empty() && Found.Faults.empty() ? ExitComplete : ExitIncomplete;
}

} // namespace nvmove::tool
