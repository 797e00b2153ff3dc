// Opening a pool from outside: see OpenPool.h.
#include "pool/OpenPool.h"

#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nvmove::pool {

llvm::Error lastError() {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), nvm_strerror());
}

llvm::Expected<OpenPool> OpenPool::look(const std::string &Path) {
  setenv("NVMOVE_OPEN", "copy", 1);
  NVM_POOL *Pool = nvm_pool_open_foreign(Path.c_str());
  unsetenv("NVMOVE_OPEN");
  if (!Pool)
    return lastError();
  return OpenPool(Pool);
}

llvm::Expected<OpenPool> OpenPool::change(const std::string &Path) {
  NVM_POOL *Pool = nvm_pool_open_foreign(Path.c_str());
  if (!Pool)
    return lastError();
  return OpenPool(Pool);
}

namespace {

/// As nvmi_disk_share_as (runtime/platform/disk.h) does.
void shareAs(const std::string &Path, const std::string &Like) {
  struct stat Status;
  if (stat(Like.c_str(), &Status))
    return;
  mode_t Mode = Status.st_mode & 0777;
  if (chown(Path.c_str(), Status.st_uid, Status.st_gid) && chown(Path.c_str(), -1, Status.st_gid))
    Mode &= ~static_cast<mode_t>(070) | (Mode & 07) << 3;
  if (chmod(Path.c_str(), Mode))
    return; // its owner's alone
}

} // namespace

llvm::Expected<OpenPool> OpenPool::create(const std::string &Path, uint64_t Size,
                                          const std::string &Like) {
  mode_t Before = umask(077);
  NVM_POOL *Pool = nvm_pool_create(Path.c_str(), Size);
  umask(Before);
  if (Pool)
    shareAs(Path, Like);
  if (!Pool)
    return lastError();
  return OpenPool(Pool);
}

llvm::Error OpenPool::close() {
  if (nvm_pool_close(std::exchange(Pool, nullptr)))
    return lastError();
  return llvm::Error::success();
}

Hold::Hold(const std::string &Path)
    : File(open(Path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) { // nobody waits at a pipe
  if (File >= 0)
    flock(File, LOCK_SH | LOCK_NB);
}

Hold::~Hold() {
  if (File >= 0)
    close(File);
}

OpenPool::~OpenPool() {
  if (Pool)
    nvm_pool_close(Pool);
}

} // namespace nvmove::pool
