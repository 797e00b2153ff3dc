// A pool is put aside: see CrashAside.h.
#include "nvmove/CrashAside.h"
#include "support/Failed.h"

#include "llvm/Support/MemoryBuffer.h"

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace nvmove::tool {

using support::failed;
namespace {

char Path[PATH_MAX], Aside[PATH_MAX]; ///< what a handler reads
volatile std::sig_atomic_t IsAside;

llvm::Error systemError(const char *What) {
  return failed(llvm::Twine(What) + ": " + std::strerror(errno));
}

/// Pages of zeros are left out: the file is as sparse as it was, or sparser.
bool writeSparse(int Fd, llvm::StringRef Bytes) {
  constexpr size_t Page = 4096;
  for (size_t At = 0; At < Bytes.size(); At += Page) {
    llvm::StringRef Part = Bytes.substr(At, Page);
    if (Part.find_first_not_of('\0') != llvm::StringRef::npos &&
        pwrite(Fd, Part.data(), Part.size(), static_cast<off_t>(At)) !=
            static_cast<ssize_t>(Part.size()))
      return false;
  }
  return ftruncate(Fd, static_cast<off_t>(Bytes.size())) == 0;
}

/// Where nobody else makes one meanwhile, with the owner and the permissions of \p Like.
bool makeCopy(const struct stat &Like, llvm::StringRef Bytes) {
  int Fd = open(Path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (Fd < 0)
    return false;
  bool IsOwned = fchown(Fd, Like.st_uid, Like.st_gid) == 0 || Like.st_uid == geteuid();
  bool IsDone = IsOwned && fchmod(Fd, Like.st_mode & 07777) == 0 && writeSparse(Fd, Bytes);
  close(Fd);
  return IsDone;
}

} // namespace

llvm::Error PoolAside::take(const crash::Trace &T) {
  struct stat Now;
  if (!realpath(T.PoolPath.c_str(), Path) || stat(Path, &Now))
    return systemError("its pool is no longer where it was opened");
  if (!T.Inode || Now.st_dev != T.Device || Now.st_ino != T.Inode || !S_ISREG(Now.st_mode))
    return failed("another file is where its pool was opened");
  if (snprintf(Aside, sizeof Aside, "%s.nvmove-%d", Path, static_cast<int>(getpid())) >=
      static_cast<int>(sizeof Aside))
    return failed("the path of its pool is too long to put it aside");
  if (access(Aside, F_OK) == 0 || rename(Path, Aside))
    return systemError("its pool cannot be put aside for that time");
  IsAside = 1;
  if (T.Created || makeCopy(Now, T.Image->getBuffer()))
    return llvm::Error::success();
  llvm::Error Why = systemError("its pool cannot be made as it was before");
  restoreAside();
  return Why;
}

PoolAside::~PoolAside() { llvm::consumeError(putBack()); }

llvm::Error PoolAside::putBack() {
  restoreAside();
  if (!std::exchange(IsAside, 0))
    return llvm::Error::success();
  return failed(llvm::Twine(Path) + ": what the first run left is in " + Aside +
                ", and cannot be renamed back: " + std::strerror(errno));
}

void restoreAside() {
  if (IsAside && rename(Aside, Path) == 0)
    IsAside = 0;
}

} // namespace nvmove::tool
