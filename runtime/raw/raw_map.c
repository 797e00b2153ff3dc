/* raw_map.c: what maps and synchronises files, in front of the C library's (raw.h). */
#define _GNU_SOURCE
#include "raw/raw.h"

#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

const char nvmi_raw_maps = 1; /* raw.c */

#define EXPORTED __attribute__((visibility("default")))

static bool is_shared(int flags) {
  int type = flags & MAP_TYPE;
  return (type == MAP_SHARED || type == MAP_SHARED_VALIDATE) && !(flags & MAP_ANONYMOUS);
}

EXPORTED void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
  if (flags & MAP_FIXED)
    nvmi_raw_unmapped(at, size);
  void *got = (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);
  if (got != MAP_FAILED && is_shared(flags))
    nvmi_raw_mapped(got, size, fd, offset);
  return got;
}

EXPORTED void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
  return mmap(at, size, protection, flags, fd, offset);
}

EXPORTED int munmap(void *at, size_t size) {
  nvmi_raw_unmapped(at, size);
  return (int)syscall(SYS_munmap, at, size);
}

EXPORTED void *mremap(void *at, size_t old_size, size_t new_size, int flags, ...) {
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

EXPORTED int msync(void *at, size_t size, int flags) {
  int result = (int)syscall(SYS_msync, at, size, flags);
  if (result == 0 && flags & MS_SYNC)
    nvmi_raw_synchronised(at, size);
  return result;
}

EXPORTED int fsync(int fd) {
  int result = (int)syscall(SYS_fsync, fd);
  if (result == 0)
    nvmi_raw_file_synchronised(fd);
  return result;
}

EXPORTED int fdatasync(int fd) {
  int result = (int)syscall(SYS_fdatasync, fd);
  if (result == 0)
    nvmi_raw_file_synchronised(fd);
  return result;
}
