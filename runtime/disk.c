/* disk.c: see disk.h. */
#define _GNU_SOURCE
#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static enum nvm_error code_of(int error_number) {
  switch (error_number) {
  case ENOENT:
  case ENOTDIR:
    return NVM_EMISSING;
  case EEXIST:
    return NVM_EEXISTS;
  case EACCES:
  case EPERM:
  case EROFS:
    return NVM_EREADONLY;
  case ENOSPC:
  case EDQUOT:
  case EFBIG:
    return NVM_ENOSPACE;
  default:
    return NVM_ESYSTEM;
  }
}

int nvmi_disk_fail(const char *path, const char *what) {
  return nvmi_fail(code_of(errno), path, "%s: %s", what, strerror(errno));
}

int nvmi_disk_allocate(struct nvm_pool *pool, uint64_t offset, uint64_t size) {
  int error;
  do {
    error = posix_fallocate(pool->fd, (off_t)offset, (off_t)size);
  } while (error == EINTR);
  if (error == 0)
    return 0;
  errno = error;
  return nvmi_disk_fail(pool->path, "cannot allocate blocks on the disk; free some space");
}

int nvmi_disk_sync(const char *path, int fd) {
  int failed;
  do {
    failed = fsync(fd);
  } while (failed && errno == EINTR);
  if (!failed || errno == EINVAL || errno == ENOTSUP)
    return 0;
  return nvmi_disk_fail(path, "cannot be brought to the disk");
}
