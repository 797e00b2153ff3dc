// Atomic files and well-known folders: see Files.h.
#include "support/Files.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <cstdlib>
#include <unistd.h>

namespace nvmove::support {

namespace {

/// Writes through \p Out and gives the stream's error, which raw_fd_ostream would otherwise turn
/// into an abort.
std::error_code writeStream(llvm::raw_fd_ostream &Out,
                            llvm::function_ref<void(llvm::raw_ostream &)> Write) {
  Write(Out);
  Out.flush();
  std::error_code Error = Out.error();
  Out.clear_error();
  return Error;
}

llvm::Error writeDirectly(llvm::StringRef Path,
                          llvm::function_ref<void(llvm::raw_ostream &)> Write) {
  std::error_code Error;
  llvm::raw_fd_ostream Out(Path, Error, llvm::sys::fs::CD_OpenExisting);
  if (!Error)
    Error = writeStream(Out, Write);
  return Error ? llvm::createFileError(Path, Error) : llvm::Error::success();
}

std::string environment(const char *Name) {
  const char *Value = std::getenv(Name);
  return Value ? Value : "";
}

} // namespace

llvm::Error writeFile(llvm::StringRef Path, llvm::function_ref<void(llvm::raw_ostream &)> Write) {
  llvm::sys::fs::file_status Status;
  if (!llvm::sys::fs::status(Path, Status)) {
    if (llvm::sys::fs::is_directory(Status))
      return llvm::createFileError(Path, std::make_error_code(std::errc::is_a_directory));
    if (!llvm::sys::fs::is_regular_file(Status))
      return writeDirectly(Path, Write);
  }
  auto Temporary = llvm::sys::fs::TempFile::create(Path + ".tmp-%%%%%%%%");
  if (!Temporary)
    return llvm::createFileError(Path, Temporary.takeError());
  std::error_code Error;
  {
    llvm::raw_fd_ostream Out(Temporary->FD, /*shouldClose=*/false);
    Error = writeStream(Out, Write);
  }
  if (Error) {
    llvm::consumeError(Temporary->discard());
    return llvm::createFileError(Path, Error);
  }
  if (llvm::Error E = Temporary->keep(Path))
    return llvm::createFileError(Path, std::move(E));
  return llvm::Error::success();
}

std::string cacheDirectory() {
  if (std::string Own = environment("NVMOVE_CACHE_DIR"); !Own.empty())
    return absolutePath(Own);
  // The XDG specification says to ignore relative values.
  if (std::string Xdg = environment("XDG_CACHE_HOME"); llvm::StringRef(Xdg).starts_with("/"))
    return Xdg + "/nvmove";
  llvm::SmallString<128> Home;
  if (!llvm::sys::path::home_directory(Home))
    return "";
  return (Home + "/.cache/nvmove").str();
}

std::string absolutePath(llvm::StringRef Path, llvm::StringRef Base) {
  llvm::SmallString<256> Whole(Path);
  if (!Base.empty())
    llvm::sys::fs::make_absolute(Base, Whole);
  if (llvm::sys::fs::make_absolute(Whole))
    return Path.str(); // The working directory is gone.
  llvm::sys::path::remove_dots(Whole, /*remove_dot_dot=*/true);
  return std::string(Whole);
}

llvm::Error refuseInputs(const std::vector<std::string> &Outputs, const std::set<std::string> &Read,
                         llvm::StringRef Work) {
  for (const std::string &Output : Outputs) {
    llvm::sys::fs::UniqueID Target, Each;
    if (Output.empty() || Output == "-" || !llvm::sys::fs::is_regular_file(Output) ||
        llvm::sys::fs::getUniqueID(Output, Target))
      continue;
    for (const std::string &Path : Read)
      if (!Path.empty() && !llvm::sys::fs::getUniqueID(Path, Each) && Each == Target)
        return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                       Output + " is an input of this " + Work + " (" + Path +
                                           "); it is not replaced. Name another file to write");
  }
  return llvm::Error::success();
}

} // namespace nvmove::support
