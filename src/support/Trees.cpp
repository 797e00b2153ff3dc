// Copies of a source's folder: see Trees.h.
#include "support/Trees.h"

#include "llvm/ADT/Twine.h"

#include <filesystem>
#include <vector>

namespace nvmove::support {

namespace fs = std::filesystem;

namespace {

llvm::Error failed(const fs::path &Path, std::error_code Error) {
  return llvm::createStringError(Error, Path.string() + ": cannot be copied: " + Error.message());
}

/// A file or a link; nothing of what is neither.
std::error_code copyOne(const fs::directory_entry &From, const fs::path &To) {
  std::error_code Error;
  if (From.is_symlink(Error)) {
    fs::copy_symlink(From.path(), To, Error);
    return Error;
  }
  if (!From.is_regular_file(Error))
    return Error;
  fs::copy_file(From.path(), To, Error);
  if (!Error)
    fs::last_write_time(To, From.last_write_time(), Error);
  return Error;
}

/// So that what is in it can be removed.
void makeWritable(const std::string &Folder) {
  std::error_code Ignored;
  for (fs::recursive_directory_iterator At(Folder, Ignored), End; !Ignored && At != End;
       At.increment(Ignored))
    if (std::error_code None; At->is_directory(None) && !At->is_symlink(None))
      fs::permissions(At->path(), fs::perms::owner_all, fs::perm_options::add, None);
}

} // namespace

llvm::Error copyTree(const std::string &From, const std::string &To,
                     llvm::function_ref<bool(const std::string &)> Skips) {
  std::error_code Error;
  makeWritable(To);
  fs::remove_all(To, Error);
  fs::create_directory(To, Error);
  if (Error)
    return failed(To, Error);
  std::vector<fs::directory_entry> Folders;
  fs::recursive_directory_iterator At(From, Error), End;
  for (; !Error && At != End; At.increment(Error)) {
    fs::path Target = To / At->path().lexically_relative(From);
    std::error_code Failed;
    if (Skips && At->is_directory(Failed) && Skips(At->path().string())) {
      At.disable_recursion_pending();
      continue;
    }
    if (At->is_directory(Failed) && !At->is_symlink(Failed)) {
      fs::create_directory(Target, Failed);
      Folders.push_back(*At);
    } else {
      Failed = copyOne(*At, Target);
    }
    if (Failed)
      return failed(At->path(), Failed);
  }
  if (Error)
    return failed(From, Error);
  for (size_t I = Folders.size(); I-- > 0;) { // at last, the inner ones first
    fs::path Target = To / Folders[I].path().lexically_relative(From);
    fs::last_write_time(Target, Folders[I].last_write_time(), Error);
    fs::permissions(Target, Folders[I].status().permissions() | fs::perms::owner_all, Error);
  }
  return llvm::Error::success();
}

} // namespace nvmove::support
