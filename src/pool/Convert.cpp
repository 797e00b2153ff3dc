// Converting a pool: see Convert.h.
#include "pool/Convert.h"

#include "pool/Census.h"
#include "pool/Converter.h"

#include "support/Failed.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace nvmove::pool {

using support::failed;

namespace {

/// Under its name once it is sound and on the disk.
llvm::Error publish(const std::string &Made, const std::string &To) {
  llvm::Expected<Findings> Found = checkPool(Made);
  if (!Found)
    return Found.takeError();
  if (!Found->Faults.empty())
    return failed(To + ": what was made is not sound: " + Found->Faults.front());
  llvm::SmallString<256> Folder(To);
  llvm::sys::path::remove_filename(Folder);
  int File = open(Made.c_str(), O_RDWR | O_CLOEXEC);
  int Directory = open(Folder.empty() ? "." : Folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool Synced = File >= 0 && Directory >= 0 && fsync(File) == 0 &&
                link(Made.c_str(), To.c_str()) == 0 && fsync(Directory) == 0;
  int Cause = errno;
  for (int Descriptor : {File, Directory})
    if (Descriptor >= 0)
      close(Descriptor);
  return Synced ? llvm::Error::success() : failed(To + ": " + strerror(Cause));
}

} // namespace

llvm::Expected<Converted> convert(const std::string &From, const std::string &To, uint64_t Size,
                                  const Layouts *Program, const FieldMap &Map,
                                  llvm::function_ref<void(uint64_t, uint64_t)> Progress) {
  if (llvm::sys::fs::exists(To))
    return failed(To + ": the file exists; what is made goes into a new one");
  llvm::Expected<OpenPool> Old = OpenPool::look(From);
  if (!Old)
    return Old.takeError();
  nvm_info Info;
  if (nvm_pool_info(Old->get(), &Info))
    return lastError();
  llvm::Expected<Layouts> Were = Layouts::of(Old->get());
  if (!Were)
    return Were.takeError();
  std::string Made = To + "." + std::to_string(getpid()) + ".new";
  llvm::sys::RemoveFileOnSignal(Made);
  constexpr uint64_t Least = 1 << 20; // a pool that was made shorter may have less
  llvm::Expected<OpenPool> New =
      OpenPool::create(Made, Size ? Size : std::max(Info.size, Least), From);
  if (!New)
    return New.takeError();
  Converter C(Old->get(), Info.size, New->get(), *Were, Program ? *Program : *Were, Map, Progress);
  llvm::Error E = C.run();
  if (!E)
    E = New->close();
  if (!E)
    E = publish(Made, To);
  llvm::sys::fs::remove(Made);
  llvm::sys::DontRemoveFileOnSignal(Made);
  if (E)
    return std::move(E);
  return std::move(C.Done);
}

} // namespace nvmove::pool
