/* raw_map.c: what maps and synchronises files, in front of the C library's (raw.h). */
#define _GNU_SOURCE
#include "raw/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

const char nvmi_raw_maps = 1; /* raw.c */

enum { PAGE = 4096 };

#define NVMI_INTERPOSE __attribute__((visibility("default")))

static bool is_shared(int flags) {
  int type = flags & MAP_TYPE;
  return (type == MAP_SHARED || type == MAP_SHARED_VALIDATE) && !(flags & MAP_ANONYMOUS);
}

NVMI_INTERPOSE void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
  if (flags & MAP_FIXED)
    nvmi_raw_unmapped(at, size);
  void *got = (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
  if (got != MAP_FAILED && is_shared(flags))
    nvmi_raw_mapped(got, size, fd, offset);
  return got;
}

NVMI_INTERPOSE void *mmap64(void *at, size_t size, int protection, int flags, int fd,
                            off_t offset) {
  return mmap(at, size, protection, flags, fd, offset);
}

NVMI_INTERPOSE int munmap(void *at, size_t size) {
  nvmi_raw_unmapped(at, size);
  return (int)syscall(SYS_munmap, at, size);
}

NVMI_INTERPOSE void *mremap(void *at, size_t old_size, size_t new_size, int flags, ...) {
  va_list list;
  va_start(list, flags);
  void *wanted = flags & MREMAP_FIXED ? va_arg(list, void *) : NULL;
  va_end(list);
  uint64_t place = nvmi_raw_unmapped(at, old_size);
  void *got = (void *)syscall(SYS_mremap, at, old_size, new_size, flags, wanted);
  if (place != UINT64_MAX)
    nvmi_raw_again(got == MAP_FAILED ? at : got, got == MAP_FAILED ? old_size : new_size, place);
  return got;
}

/* The whole pages that the range touches are written back; it begins with one. */
NVMI_INTERPOSE int msync(void *at, size_t size, int flags) {
  int result = (int)syscall(SYS_msync, at, size, flags);
  if (result == 0 && flags & MS_SYNC)
    nvmi_raw_synchronised(at, (size + PAGE - 1) & ~(size_t)(PAGE - 1));
  return result;
}

NVMI_INTERPOSE int fsync(int fd) {
  int result = (int)syscall(SYS_fsync, fd);
  if (result == 0)
    nvmi_raw_file_synchronised(fd, NVMI_RAW_FILE);
  return result;
}

NVMI_INTERPOSE int fdatasync(int fd) {
  int result = (int)syscall(SYS_fdatasync, fd);
  if (result == 0)
    nvmi_raw_file_synchronised(fd, NVMI_RAW_FILE);
  return result;
}

NVMI_INTERPOSE int syncfs(int fd) {
  int result = (int)syscall(SYS_syncfs, fd);
  if (result == 0)
    nvmi_raw_file_synchronised(fd, NVMI_RAW_FILE_SYSTEM);
  return result;
}

NVMI_INTERPOSE void sync(void) {
  syscall(SYS_sync);
  nvmi_raw_file_synchronised(-1, NVMI_RAW_MACHINE);
}

NVMI_INTERPOSE int ftruncate(int fd, off_t size) {
  int result = (int)syscall(SYS_ftruncate, fd, size);
  if (result == 0)
    nvmi_raw_resized(fd);
  return result;
}

NVMI_INTERPOSE int ftruncate64(int fd, off_t size) { return ftruncate(fd, size); }

/* By system calls: none of these is a place where a thread is cancelled. */
static int allocate(int fd, int mode, off_t offset, off_t size) {
  int result = (int)syscall(SYS_fallocate, fd, mode, offset, size);
  if (result == 0)
    nvmi_raw_resized(fd);
  return result;
}

NVMI_INTERPOSE int fallocate(int fd, int mode, off_t offset, off_t size) {
  return allocate(fd, mode, offset, size);
}

NVMI_INTERPOSE int fallocate64(int fd, int mode, off_t offset, off_t size) {
  return allocate(fd, mode, offset, size);
}

static int allocate_space(int fd, off_t offset, off_t size) {
  int before = errno, result = allocate(fd, 0, offset, size) ? errno : 0;
  struct stat status;
  if (result == EOPNOTSUPP && fstat(fd, &status) == 0) /* a file system without it */
    result = status.st_size >= offset + size || ftruncate(fd, offset + size) == 0 ? 0 : errno;
  errno = before;
  return result;
}

NVMI_INTERPOSE int posix_fallocate(int fd, off_t offset, off_t size) {
  return allocate_space(fd, offset, size);
}

NVMI_INTERPOSE int posix_fallocate64(int fd, off_t offset, off_t size) {
  return allocate_space(fd, offset, size);
}
