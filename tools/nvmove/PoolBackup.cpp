// nvmove pool backup: a consistent copy, also of a pool that a program is writing to.
#include "nvmove/PoolCommand.h"

#include "pool/OpenPool.h"

#include "nvmove/backup.h"

namespace nvmove::tool {

llvm::Expected<int> backUp(const Arguments &A) {
  nvm_backup Told = {};
  Told.seconds_max = A.Pool.SecondsMax;
  if (nvm_pool_backup_file(A.Pool.Path.c_str(), A.Pool.Copy.c_str(), &Told))
    return pool::lastError();
  if (llvm::Error E = print(A, [&](llvm::raw_ostream &OS) {
        if (A.Format == "json") {
          printJson(OS, llvm::json::Object{{"schema_version", 1},
                                           {"path", A.Pool.Path},
                                           {"copy", A.Pool.Copy},
                                           {"bytes", Told.bytes},
                                           {"bytes_copied_again", Told.bytes_twice},
                                           {"was_open", Told.was_open},
                                           {"pause_ms", Told.pause * 1e3}});
          return;
        }
        OS << A.Pool.Copy << ": " << Told.bytes << " bytes";
        if (!Told.was_open)
          OS << "; nobody had it open";
        else if (Told.pause > 0)
          OS << llvm::format("; the program could not write for %.1f ms", Told.pause * 1e3);
        else
          OS << "; the program wrote nothing meanwhile and was not stopped";
        OS << '\n';
      }))
    return std::move(E);
  return ExitComplete;
}

} // namespace nvmove::tool
