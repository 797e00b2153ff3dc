/* repair_copy.c: see repair_copy.h. */
#define _GNU_SOURCE
#include "fsck/repair_copy.h"
#include "base/uncancelled.h"

#include "base/checksum.h"
#include "base/kill.h"
#include "base/own_files.h"
#include "core/header.h"
#include "core/map.h"
#include "platform/disk.h"
#include "pool/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORD = 8, BUFFER = 1 << 16, NUMBERS = 10000 };

static uint64_t check_of(const struct nvmi_copy *copy) {
  return nvmi_check(&copy->pool_size_before, nvmi_copy_size(copy) - 2 * WORD, NVMI_COPY_MAGIC);
}

/* Zeros behind the end. */
int nvmi_copy_read(const struct nvm_pool *pool, void *to, uint64_t size, uint64_t offset) {
  ssize_t got = nvmi_disk_read(pool->fd, to, size, offset);
  if (got < 0)
    return nvmi_disk_fail(pool->path, "cannot be read");
  memset((char *)to + got, 0, size - (uint64_t)got);
  return 0;
}

int nvmi_copy_write(const char *path, int fd, const void *from, uint64_t size, uint64_t offset) {
  for (uint64_t done = 0; done < size;) {
    struct nvmi_size_limit hold;
    nvmi_size_limit_hold(&hold);
    ssize_t put = NVMI_UNCANCELLED(
        pwrite(fd, (const char *)from + done, size - done, (off_t)(offset + done)));
    nvmi_size_limit_release(&hold);
    if (put < 0 && errno == EINTR)
      continue;
    if (put <= 0)
      return nvmi_disk_fail(path, "cannot be written");
    done += (uint64_t)put;
  }
  nvmi_step(NVMI_STEP_REPAIR);
  return 0;
}

enum { MARKS = 1 << NVM_CHECK_REPAIR_BITS };

/* Of the file that has this head. */
uint64_t nvmi_copy_mark(const struct nvmi_copy *copy) {
  uint64_t mark = (NVM_CHECK_REPAIR & -(uint64_t)MARKS) | copy->check % MARKS;
  return mark == NVM_CHECK_REPAIR ? mark + 1 : mark;
}

/* Adds the word at `offset`, to the last range when it follows that; the headers' checksums are
 * ranges of their own. */
static bool add_word(struct nvmi_array *ranges, uint64_t offset) {
  struct nvmi_copy_range *all = ranges->items,
                         *last = ranges->count ? &all[ranges->count - 1] : NULL;
  if (last && last->offset + last->size == offset && !nvmi_is_header_check(offset) &&
      !nvmi_is_header_check(last->offset)) {
    last->size += WORD;
    return true;
  }
  struct nvmi_copy_range fresh = {offset, WORD};
  return nvmi_array_push(ranges, &fresh, sizeof fresh);
}

/* What differs, and the headers' checksums, which always change on the way. */
static int find_ranges(const struct nvmi_repair *repair, struct nvmi_array *ranges) {
  const struct nvm_pool *pool = repair->pool;
  uint64_t size = nvmi_file_size(&pool->header);
  uint64_t *file = nvmi_dram_reserve(BUFFER);
  bool full = !file;
  int result = 0;
  for (uint64_t at = 0; at < size && !full && result == 0; at += BUFFER) {
    uint64_t part = size - at < BUFFER ? size - at : BUFFER;
    const uint64_t *image = (const void *)(pool->home + at);
    result = nvmi_copy_read(pool, file, part, at);
    if (result || (at && memcmp(file, image, part) == 0))
      continue;
    for (uint64_t i = 0; i < part / WORD && !full; i++)
      if (file[i] != image[i] || nvmi_is_header_check(at + i * WORD))
        full = !add_word(ranges, at + i * WORD);
  }
  if (file)
    munmap(file, BUFFER);
  return full ? nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for what is to be changed")
              : result;
}

/* Null: recorded. In DRAM of nvmi_copy_size(). */
static struct nvmi_copy *make_of(const struct nvmi_repair *repair,
                                 const struct nvmi_array *ranges) {
  const struct nvm_pool *pool = repair->pool;
  const struct nvmi_copy_range *all = ranges->items;
  struct nvmi_copy head = {.magic = NVMI_COPY_MAGIC,
                           .pool_size_before = repair->file_size,
                           .pool_size_after = nvmi_file_size(&pool->header),
                           .ranges = ranges->count};
  if (head.pool_size_after < repair->file_size)
    head.pool_size_after = repair->file_size;
  memcpy(head.id, pool->header.id, sizeof head.id);
  for (size_t i = 0; i < ranges->count; i++)
    head.bytes += all[i].size;
  struct nvmi_copy *copy = nvmi_dram_reserve(nvmi_copy_size(&head));
  if (!copy) {
    nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for what is to be changed");
    return NULL;
  }
  *copy = head;
  memcpy(nvmi_copy_ranges(copy), all, ranges->count * sizeof *all);
  char *before = nvmi_copy_before(copy), *after = nvmi_copy_after(copy);
  int failed = 0;
  for (size_t i = 0; i < ranges->count && !failed; i++) {
    failed = nvmi_copy_read(pool, before, all[i].size, all[i].offset);
    memcpy(after, pool->home + all[i].offset, all[i].size);
    before += all[i].size;
    after += all[i].size;
  }
  copy->check = check_of(copy);
  if (!failed)
    return copy;
  munmap(copy, nvmi_copy_size(&head));
  return NULL;
}

struct nvmi_copy *nvmi_copy_make(const struct nvmi_repair *repair) {
  struct nvmi_array ranges = {0};
  struct nvmi_copy *copy = find_ranges(repair, &ranges) ? NULL : make_of(repair, &ranges);
  nvmi_array_free(&ranges, sizeof(struct nvmi_copy_range));
  return copy;
}

static int sync_folder(const char *path) {
  char folder[PATH_MAX];
  snprintf(folder, sizeof folder, "%s", path);
  char *end = strrchr(folder, '/');
  snprintf(end ? end + (end == folder) : folder, 2, "%s", end ? "" : ".");
  int fd = nvmi_open(folder, O_RDONLY | O_DIRECTORY, 0);
  int result = fd < 0 ? nvmi_disk_fail(folder, "cannot be opened") : nvmi_disk_sync(folder, fd);
  if (fd >= 0)
    NVMI_UNCANCELLED(close(fd));
  return result;
}

/* Under the first number that is free; it has its name when it is whole. */
int nvmi_copy_save(struct nvmi_repair *repair, const struct nvmi_copy *copy) {
  const char *path = repair->pool->path;
  char *name = repair->how->copy, fresh[PATH_MAX + 40];
  snprintf(fresh, sizeof fresh, "%s.repair.new", path);
  int fd = nvmi_open(fresh, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0)
    return nvmi_disk_fail(fresh, "cannot be created");
  int result =
      nvmi_copy_write(fresh, fd, copy, nvmi_copy_size(copy), 0) || nvmi_disk_sync(fresh, fd) ? -1
                                                                                             : 0;
  NVMI_UNCANCELLED(close(fd));
  for (unsigned number = 1; result == 0; number++) {
    snprintf(name, sizeof repair->how->copy, "%s.repair-%u", path, number);
    if (link(fresh, name) == 0)
      break;
    if (errno != EEXIST || number >= NUMBERS)
      result = nvmi_disk_fail(name, "cannot be created");
  }
  unlink(fresh);
  if (result == 0)
    result = sync_folder(name);
  if (result)
    *name = 0;
  return result;
}

/* Null: recorded. Mapped; `*size` for munmap. */
struct nvmi_copy *nvmi_copy_load(const char *path, uint64_t *size) {
  struct stat status;
  struct nvmi_copy *copy = NULL;
  int fd = nvmi_disk_open(path, O_RDONLY);
  if (fd >= 0 && fstat(fd, &status)) {
    nvmi_disk_fail(path, "cannot be examined");
  } else if (fd >= 0 && (uint64_t)status.st_size >= sizeof *copy) {
    *size = (uint64_t)status.st_size;
    copy = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, fd, 0);
    copy = copy == MAP_FAILED ? NULL : copy;
  }
  bool opened = fd >= 0;
  if (opened)
    nvmi_own_file_close(fd);
  bool bounded = copy && copy->magic == NVMI_COPY_MAGIC && copy->ranges < *size &&
                 copy->bytes < *size && nvmi_copy_size(copy) == *size &&
                 copy->check == check_of(copy);
  if (bounded)
    return copy;
  if (copy)
    munmap(copy, *size);
  if (opened)
    nvmi_fail(NVM_ECORRUPT, path,
              "this is not what a repair has kept, or it is damaged; name the FILE.repair-N that "
              "it told");
  return NULL;
}

/* The mark that a repair has left; 0: none. No opening leaves one: it writes both copies. */
uint64_t nvmi_copy_mark_in(const struct nvm_pool *pool) {
  for (unsigned i = 0; i < 2; i++) {
    struct nvm_header header;
    if (nvmi_copy_read(pool, &header, sizeof header, i * NVM_HEADER_COPY_SIZE))
      return 0;
    if (nvmi_is_repair_mark(header.check) && header.check != nvmi_header_check(&header))
      return header.check;
  }
  return 0;
}

/* Whether that mark is this file's. Where the mark does not tell, any may be. */
static bool is_of_mark(const char *name, uint64_t mark) {
  struct nvmi_copy head;
  int fd = nvmi_open(name, O_RDONLY | O_NONBLOCK, 0);
  bool read = fd >= 0 && nvmi_disk_read(fd, &head, sizeof head, 0) == sizeof head;
  if (fd >= 0)
    NVMI_UNCANCELLED(close(fd));
  return read && head.magic == NVMI_COPY_MAGIC &&
         (mark == NVM_CHECK_REPAIR || mark == nvmi_copy_mark(&head));
}

/* The last of those that it may be; false: it is gone. */
bool nvmi_copy_find(const struct nvm_pool *pool, uint64_t mark, char *found, size_t room) {
  bool any = false;
  for (unsigned number = 1; number <= NUMBERS; number++) {
    char name[PATH_MAX + 40];
    snprintf(name, sizeof name, "%s.repair-%u", pool->path, number);
    if (access(name, F_OK) || !is_of_mark(name, mark))
      continue;
    snprintf(found, room, "%s", name);
    any = true;
  }
  if (!any)
    nvmi_fail(NVM_EMISSING, pool->path,
              "a repair was interrupted, and what it kept beside the pool (a file %s.repair-N) is "
              "gone; put that back, or restore a copy",
              pool->path);
  return any;
}
