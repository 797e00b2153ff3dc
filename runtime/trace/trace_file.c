/* trace_file.c: the file of a trace: its buffer, its records, the image beside it.
 *
 * The file is never truncated: a second process of the same run finds it in use, and says in it
 * that it has opened a pool. Both append, whole records at a time. A file of NVMOVE_TRACE_MAX bytes
 * is full: it says so and ends, the program goes on.
 */
#define _GNU_SOURCE
#include "base/own_files.h"
#include "base/settings.h"
#include "base/uncancelled.h"
#include "trace/trace_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER = 1 << 20, IMAGE_BLOCK = 1 << 16 };

static struct {
  int fd;
  char *buffer;
  size_t used;
  uint64_t left; /* bytes until it is full */
  bool full;
} file = {.fd = -1};

void *nvmi_trace_reserve(size_t size) {
  void *got =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED)
    nvmi_die(NULL, "out of memory for a trace");
  return got;
}

bool nvmi_trace_file_open(const char *path, bool *is_other) {
  struct stat status;
  file.fd = nvmi_open(path, O_CREAT | O_WRONLY | O_APPEND, 0666);
  if (file.fd < 0 || fstat(file.fd, &status))
    nvmi_die(path, "the trace cannot be written: %s", strerror(errno));
  *is_other = status.st_size != 0;
  uint64_t bytes = nvmi_setting_number("NVMOVE_TRACE_MAX");
  file.left = bytes ? bytes : UINT64_MAX;
  file.full = false;
  if (!file.buffer)
    file.buffer = nvmi_trace_reserve(BUFFER);
  return !*is_other;
}

void nvmi_trace_file_close(void) {
  if (file.fd >= 0)
    NVMI_UNCANCELLED(close(file.fd));
  file.fd = -1;
  file.used = 0;
}

void nvmi_trace_file_discard(void) {
  if (ftruncate(file.fd, 0))
    nvmi_die(NULL, "the trace cannot be emptied: %s", strerror(errno));
  nvmi_trace_file_close();
}

void nvmi_trace_flush(void) {
  for (size_t done = 0; done < file.used;) {
    ssize_t n = NVMI_UNCANCELLED(write(file.fd, file.buffer + done, file.used - done));
    if (n < 0 && errno != EINTR)
      nvmi_die(NULL, "the trace cannot be written: %s", strerror(errno));
    done += n > 0 ? (size_t)n : 0;
  }
  file.used = 0;
}

void nvmi_trace_start(uint32_t flags) {
  struct nvm_trace_header header = {NVM_TRACE_MAGIC, NVM_TRACE_VERSION, flags};
  memcpy(file.buffer, &header, sizeof header);
  file.used = sizeof header;
}

void nvmi_trace_put(unsigned thread, enum nvm_trace_kind kind, uint64_t place, uint64_t extra,
                    const void *payload, size_t size) {
  struct nvm_trace_record record = {(uint32_t)size, (uint16_t)kind, (uint16_t)thread, place, extra};
  size_t padded = (size + 7) & ~(size_t)7;
  if (file.full)
    return;
  if (sizeof record + padded > file.left) {
    nvmi_tracing = false;
    file.full = true;
    record = (struct nvm_trace_record){.kind = NVM_TRACE_FULL};
    size = padded = 0;
    file.left = sizeof record;
  }
  file.left -= sizeof record + padded;
  if (file.used + sizeof record + padded > BUFFER)
    nvmi_trace_flush();
  memcpy(file.buffer + file.used, &record, sizeof record);
  if (size)
    memcpy(file.buffer + file.used + sizeof record, payload, size);
  file.used += sizeof record + padded;
  if (file.full)
    nvmi_trace_flush();
}

void nvmi_trace_put_pieces(unsigned thread, enum nvm_trace_kind kind, uint64_t place,
                           uint64_t extra, const char *payload, size_t size) {
  enum { PIECE = BUFFER / 4 };
  for (size_t at = 0; at < size; at += PIECE)
    nvmi_trace_put(thread, kind, place + at, extra, payload + at,
                   size - at < PIECE ? size - at : PIECE);
}

bool nvmi_trace_data(const struct nvm_pool *pool, uint64_t *from, uint64_t *end, uint64_t most) {
  off_t data = *from < most ? lseek(pool->fd, (off_t)*from, SEEK_DATA) : -1;
  if (data < 0 || (uint64_t)data >= most)
    return false;
  off_t hole = lseek(pool->fd, data, SEEK_HOLE);
  *from = (uint64_t)data;
  *end = hole < 0 || (uint64_t)hole > most ? most : (uint64_t)hole;
  return true;
}

void nvmi_trace_image(const struct nvm_pool *pool, const char *path) {
  char name[PATH_MAX];
  static const char zero[IMAGE_BLOCK];
  snprintf(name, sizeof name, "%s.image", path);
  int fd = nvmi_open(name, O_CREAT | O_TRUNC | O_WRONLY, 0666);
  uint64_t size = nvmi_file_size(&pool->header);
  bool good = fd >= 0 && ftruncate(fd, (off_t)size) == 0;
  for (uint64_t from = 0, end; good && nvmi_trace_data(pool, &from, &end, size); from = end) {
    for (uint64_t at = from; good && at < end; at += IMAGE_BLOCK) {
      size_t length = end - at < IMAGE_BLOCK ? end - at : IMAGE_BLOCK;
      if (memcmp(pool->home + at, zero, length) != 0)
        good = NVMI_UNCANCELLED(pwrite(fd, pool->home + at, length, (off_t)at)) == (ssize_t)length;
    }
  }
  if (!good || NVMI_UNCANCELLED(close(fd)))
    nvmi_die(name, "the image of the pool cannot be written: %s", strerror(errno));
}
