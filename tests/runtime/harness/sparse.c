/* sparse.c: see sparse.h. */
#define _GNU_SOURCE
#include "sparse.h"

#include "harness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t size_of(int fd) {
  struct stat status;
  CHECK(fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0);
  return (uint64_t)status.st_size;
}

/* The next pages that the file has, from `*start` to `*end`. False: there are none. */
static bool next_part(int fd, uint64_t *start, uint64_t *end) {
  off_t from = lseek(fd, (off_t)*end, SEEK_DATA);
  if (from < 0)
    return false;
  *start = (uint64_t)from;
  *end = (uint64_t)lseek(fd, from, SEEK_HOLE);
  return true;
}

static void mark(unsigned char *pages, uint64_t start, uint64_t end) {
  for (uint64_t page = start / SPARSE_PAGE; page * SPARSE_PAGE < end; page++)
    pages[page] = 1;
}

uint64_t sparse_read(const char *path, char *to, unsigned char *pages) {
  int fd = open(path, O_RDONLY);
  uint64_t size = size_of(fd), start, end = 0;
  while (next_part(fd, &start, &end)) {
    CHECK(pread(fd, to + start, end - start, (off_t)start) == (ssize_t)(end - start));
    mark(pages, start, end);
  }
  close(fd);
  return size;
}

void sparse_mark(const char *path, unsigned char *pages) {
  int fd = open(path, O_RDONLY);
  uint64_t start, end = 0;
  CHECK(fd >= 0);
  while (next_part(fd, &start, &end))
    mark(pages, start, end);
  close(fd);
}

static bool has_bytes(const char *bytes, uint64_t at, uint64_t size, const unsigned char *pages) {
  static const char zero[SPARSE_PAGE];
  return at < size && pages[at / SPARSE_PAGE] &&
         !sparse_equal(bytes + at, zero, size - at < SPARSE_PAGE ? size - at : SPARSE_PAGE);
}

void sparse_write(const char *path, const char *bytes, uint64_t size, const unsigned char *pages) {
  int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  CHECK(fd >= 0 && ftruncate(fd, (off_t)size) == 0);
  for (uint64_t start = 0, end; start < size; start = end + SPARSE_PAGE) {
    for (end = start; has_bytes(bytes, end, size, pages);)
      end += SPARSE_PAGE;
    uint64_t part = (end < size ? end : size) - start;
    if (part)
      CHECK(pwrite(fd, bytes + start, part, (off_t)start) == (ssize_t)part);
  }
  close(fd);
}

void sparse_copy(const char *from, const char *to) {
  int fd = open(from, O_RDONLY);
  uint64_t size = size_of(fd);
  close(fd);
  char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned char *pages = calloc(size / SPARSE_PAGE + 1, 1);
  CHECK(bytes != MAP_FAILED && pages);
  sparse_read(from, bytes, pages);
  sparse_write(to, bytes, size, pages);
  munmap(bytes, size);
  free(pages);
}
