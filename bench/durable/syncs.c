/* syncs.c: preloaded, counts the calls that wait for a disk, and prints them to stderr at the end
 * (../durable.py). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic unsigned long syncs, ranges;

int msync(void *at, size_t size, int flags) {
  int (*real)(void *, size_t, int) = (int (*)(void *, size_t, int))dlsym(RTLD_NEXT, "msync");
  syncs++;
  return real(at, size, flags);
}

int fsync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  syncs++;
  return real(fd);
}

int fdatasync(int fd) {
  int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, "fdatasync");
  syncs++;
  return real(fd);
}

int sync_file_range(int fd, off64_t from, off64_t size, unsigned flags) {
  int (*real)(int, off64_t, off64_t, unsigned) =
      (int (*)(int, off64_t, off64_t, unsigned))dlsym(RTLD_NEXT, "sync_file_range");
  ranges++;
  return real(fd, from, size, flags);
}

__attribute__((destructor)) static void print(void) {
  fprintf(stderr, "syncs %lu ranges %lu\n", (unsigned long)syncs, (unsigned long)ranges);
}
