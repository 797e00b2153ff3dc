// See ReadFiles.h.
#include "scan/ReadFiles.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace nvmove::scan {

namespace {

bool isDevice(const llvm::vfs::Status &What, const llvm::Twine &Path) {
  using llvm::sys::fs::file_type;
  switch (What.getType()) {
  case file_type::character_file:
    return Path.str() != "/dev/null";
  case file_type::block_file:
  case file_type::fifo_file:
  case file_type::socket_file:
    return true;
  default:
    return false;
  }
}

std::error_code notThere() { return std::make_error_code(std::errc::no_such_file_or_directory); }

} // namespace

void ReadFiles::note(const llvm::Twine &Path, std::set<std::string> &Paths) {
  llvm::SmallString<256> Whole;
  Path.toVector(Whole);
  if (Whole.empty() || makeAbsolute(Whole))
    return;
  llvm::sys::path::remove_dots(Whole, /*remove_dot_dot=*/false);
  Paths.insert(std::string(Whole));
}

llvm::ErrorOr<llvm::vfs::Status> ReadFiles::status(const llvm::Twine &Path) {
  llvm::ErrorOr<llvm::vfs::Status> Found = ProxyFileSystem::status(Path);
  bool Device = Found && isDevice(*Found, Path);
  if (!Found || Device)
    note(Path, Absent); // A file may take the place of a device, too.
  if (Device)
    return notThere();
  return Found;
}

bool ReadFiles::exists(const llvm::Twine &Path) {
  llvm::ErrorOr<llvm::vfs::Status> Found = status(Path);
  return Found && Found->exists();
}

llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
ReadFiles::openFileForRead(const llvm::Twine &Path) {
  llvm::ErrorOr<llvm::vfs::Status> Found = status(Path);
  if (!Found)
    return Found.getError();
  auto Opened = ProxyFileSystem::openFileForRead(Path);
  if (Opened) // a folder can be opened, and has no content; nor has /dev/null
    Found->isRegularFile() ? used(Path) : found(Path);
  return Opened;
}

} // namespace nvmove::scan
