/* repair_copy.c: how what was mended reaches the file, and how it is put back.
 *
 * Copy: a file beside the pool with every range of bytes that changes, as they were and as they
 * will be, durable before the pool changes. Then, each step durable before the next: both header
 * copies get a checksum that never holds, and that says which file it is (NVM_CHECK_REPAIR): there
 * may be several, and numbers are used again once one is removed. All ranges but these checksums are
 * written; they are. Crash before the first: nothing happened. After: no opening succeeds, until a
 * repair has written all ranges once more, from the copy. Crash within the last step: one header
 * copy at least still has the mark, or both are whole.
 *
 * Before anything is written from a copy, each of its ranges is compared with the file: what is
 * neither as it was nor as it will be, word by word, was written by somebody else since.
 */
#define _GNU_SOURCE
#include "base/uncancelled.h"
#include "fsck/repair.h"

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

#define COPY_MAGIC UINT64_C(0x5249415045524d4e) /* "NMREPAIR" */
enum { WORD = 8, BUFFER = 1 << 16, NUMBERS = 10000 };

/* The file: this, the ranges, the bytes before of each, the bytes after. */
struct copy {
  uint64_t magic;
  uint64_t check; /* over all that follows */
  uint64_t pool_size_before, pool_size_after;
  uint64_t ranges, bytes;
  uint8_t id[16]; /* of the pool */
};
struct range {
  uint64_t offset, size;
};

static struct range *ranges_of(const struct copy *copy) { return (struct range *)(copy + 1); }
static char *before_of(const struct copy *copy) { return (char *)(ranges_of(copy) + copy->ranges); }
static char *after_of(const struct copy *copy) { return before_of(copy) + copy->bytes; }
static uint64_t size_of(const struct copy *copy) {
  return sizeof *copy + copy->ranges * sizeof(struct range) + 2 * copy->bytes;
}
static uint64_t check_of(const struct copy *copy) {
  return nvmi_check(&copy->pool_size_before, size_of(copy) - 2 * WORD, COPY_MAGIC);
}

/* Zeros behind the end. */
static int read_at(const struct nvm_pool *pool, void *to, uint64_t size, uint64_t offset) {
  ssize_t got = nvmi_disk_read(pool->fd, to, size, offset);
  if (got < 0)
    return nvmi_disk_fail(pool->path, "cannot be read");
  memset((char *)to + got, 0, size - (uint64_t)got);
  return 0;
}

static int write_all(const char *path, int fd, const void *from, uint64_t size, uint64_t offset) {
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
static uint64_t mark_of(const struct copy *copy) {
  uint64_t mark = (NVM_CHECK_REPAIR & -(uint64_t)MARKS) | copy->check % MARKS;
  return mark == NVM_CHECK_REPAIR ? mark + 1 : mark;
}

static bool is_check(uint64_t offset) {
  return offset % NVM_HEADER_COPY_SIZE == offsetof(struct nvm_header, check) &&
         offset < 2 * NVM_HEADER_COPY_SIZE;
}

/* Adds the word at `offset`, to the last range when it follows that; the headers' checksums are
 * ranges of their own. */
static bool add_word(struct nvmi_array *ranges, uint64_t offset) {
  struct range *all = ranges->items, *last = ranges->count ? &all[ranges->count - 1] : NULL;
  if (last && last->offset + last->size == offset && !is_check(offset) && !is_check(last->offset)) {
    last->size += WORD;
    return true;
  }
  struct range fresh = {offset, WORD};
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
    result = read_at(pool, file, part, at);
    if (result || (at && memcmp(file, image, part) == 0))
      continue;
    for (uint64_t i = 0; i < part / WORD && !full; i++)
      if (file[i] != image[i] || is_check(at + i * WORD))
        full = !add_word(ranges, at + i * WORD);
  }
  if (file)
    munmap(file, BUFFER);
  return full ? nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for what is to be changed")
              : result;
}

/* Null: recorded. In DRAM of size_of(). */
static struct copy *make_copy(const struct nvmi_repair *repair, const struct nvmi_array *ranges) {
  const struct nvm_pool *pool = repair->pool;
  const struct range *all = ranges->items;
  struct copy head = {.magic = COPY_MAGIC,
                      .pool_size_before = repair->file_size,
                      .pool_size_after = nvmi_file_size(&pool->header),
                      .ranges = ranges->count};
  if (head.pool_size_after < repair->file_size)
    head.pool_size_after = repair->file_size;
  memcpy(head.id, pool->header.id, sizeof head.id);
  for (size_t i = 0; i < ranges->count; i++)
    head.bytes += all[i].size;
  struct copy *copy = nvmi_dram_reserve(size_of(&head));
  if (!copy) {
    nvmi_fail(NVM_ENOMEMORY, pool->path, "out of memory for what is to be changed");
    return NULL;
  }
  *copy = head;
  memcpy(ranges_of(copy), all, ranges->count * sizeof *all);
  char *before = before_of(copy), *after = after_of(copy);
  int failed = 0;
  for (size_t i = 0; i < ranges->count && !failed; i++) {
    failed = read_at(pool, before, all[i].size, all[i].offset);
    memcpy(after, pool->home + all[i].offset, all[i].size);
    before += all[i].size;
    after += all[i].size;
  }
  copy->check = check_of(copy);
  if (!failed)
    return copy;
  munmap(copy, size_of(&head));
  return NULL;
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
static int save_copy(struct nvmi_repair *repair, const struct copy *copy) {
  const char *path = repair->pool->path;
  char *name = repair->how->copy, fresh[PATH_MAX + 40];
  snprintf(fresh, sizeof fresh, "%s.repair.new", path);
  int fd = nvmi_open(fresh, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (fd < 0)
    return nvmi_disk_fail(fresh, "cannot be created");
  int result = write_all(fresh, fd, copy, size_of(copy), 0) || nvmi_disk_sync(fresh, fd) ? -1 : 0;
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
static struct copy *load_copy(const char *path, uint64_t *size) {
  struct stat status;
  struct copy *copy = NULL;
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
  bool bounded = copy && copy->magic == COPY_MAGIC && copy->ranges < *size && copy->bytes < *size &&
                 size_of(copy) == *size && copy->check == check_of(copy);
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

/* Whether each word of the file is as it was or as it will be. */
static int check_file(const struct nvm_pool *pool, const struct copy *copy) {
  const uint64_t *before = (const void *)before_of(copy), *after = (const void *)after_of(copy);
  for (uint64_t i = 0; i < copy->ranges; i++) {
    struct range range = ranges_of(copy)[i];
    for (uint64_t at = range.offset; at < range.offset + range.size; at += WORD) {
      uint64_t word;
      if (read_at(pool, &word, WORD, at))
        return -1;
      if (word != *before && word != *after && !(is_check(at) && nvmi_is_repair_mark(word)))
        return nvmi_fail(NVM_ECORRUPT, pool->path,
                         "the pool was written to since that repair (at offset %#llx); nothing was "
                         "changed",
                         (unsigned long long)at);
      before++;
      after++;
    }
  }
  return 0;
}

/* The headers' checksums, or all words but those. */
static int write_ranges(const struct nvm_pool *pool, const struct copy *copy, const char *bytes,
                        bool checks) {
  for (uint64_t i = 0; i < copy->ranges; bytes += ranges_of(copy)[i++].size) {
    struct range range = ranges_of(copy)[i];
    if (is_check(range.offset) == checks &&
        write_all(pool->path, pool->fd, bytes, range.size, range.offset))
      return -1;
  }
  return nvmi_disk_sync(pool->path, pool->fd);
}

static int set_size(struct nvm_pool *pool, uint64_t size) {
  struct stat status;
  if (fstat(pool->fd, &status))
    return nvmi_disk_fail(pool->path, "cannot be examined");
  uint64_t now = (uint64_t)status.st_size;
  if (now < size)
    return nvmi_disk_allocate(pool->path, pool->fd, now, size - now, NVMI_PATIENCE_MAKE);
  return now > size && ftruncate(pool->fd, (off_t)size)
             ? nvmi_disk_fail(pool->path, "cannot be made shorter")
             : 0;
}

/* The steps that the head of this file argues. */
static int apply(struct nvm_pool *pool, const struct copy *copy, bool forward) {
  const uint64_t mark = mark_of(copy);
  uint64_t size = forward ? copy->pool_size_after : copy->pool_size_before;
  const char *bytes = forward ? after_of(copy) : before_of(copy);
  for (uint64_t i = 0; i < 2; i++)
    if (write_all(pool->path, pool->fd, &mark, sizeof mark,
                  i * NVM_HEADER_COPY_SIZE + offsetof(struct nvm_header, check)))
      return -1;
  return nvmi_disk_sync(pool->path, pool->fd) || set_size(pool, size) ||
                 write_ranges(pool, copy, bytes, false) || write_ranges(pool, copy, bytes, true)
             ? -1
             : 0;
}

int nvmi_repair_write(struct nvmi_repair *repair) {
  struct nvmi_array ranges = {0};
  int result = find_ranges(repair, &ranges);
  struct copy *copy = result ? NULL : make_copy(repair, &ranges);
  nvmi_array_free(&ranges, sizeof(struct range));
  if (!copy)
    return -1;
  result = save_copy(repair, copy) || apply(repair->pool, copy, true) ? -1 : 0;
  munmap(copy, size_of(copy));
  return result;
}

/* The mark that a repair has left; 0: none. No opening leaves one: it writes both copies. */
static uint64_t mark_in(const struct nvm_pool *pool) {
  for (unsigned i = 0; i < 2; i++) {
    struct nvm_header header;
    if (read_at(pool, &header, sizeof header, i * NVM_HEADER_COPY_SIZE))
      return 0;
    if (nvmi_is_repair_mark(header.check) && header.check != nvmi_header_check(&header))
      return header.check;
  }
  return 0;
}

/* Whether that mark is this file's. Where the mark does not tell, any may be. */
static bool is_of_mark(const char *name, uint64_t mark) {
  struct copy head;
  int fd = nvmi_open(name, O_RDONLY | O_NONBLOCK, 0);
  bool read = fd >= 0 && nvmi_disk_read(fd, &head, sizeof head, 0) == sizeof head;
  if (fd >= 0)
    NVMI_UNCANCELLED(close(fd));
  return read && head.magic == COPY_MAGIC && (mark == NVM_CHECK_REPAIR || mark == mark_of(&head));
}

/* The last of those that it may be; false: it is gone. */
static bool find_copy(const struct nvm_pool *pool, uint64_t mark, char *found, size_t room) {
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

bool nvmi_repair_resume(struct nvm_pool *pool, bool *failed) {
  char name[PATH_MAX + 40];
  uint64_t size, mark = mark_in(pool);
  if (!mark)
    return false;
  *failed = true;
  struct copy *copy = find_copy(pool, mark, name, sizeof name) ? load_copy(name, &size) : NULL;
  if (!copy)
    return true;
  *failed = check_file(pool, copy) || apply(pool, copy, true);
  munmap(copy, size);
  return true;
}

int nvm_pool_repair_undo(const char *path, const char *name) {
  uint64_t size;
  nvmi_kill_arm();
  struct copy *copy = load_copy(name, &size);
  if (!copy)
    return -1;
  struct nvm_pool *pool = nvmi_pool_take(path, true);
  int result = -1;
  if (pool) {
    result = check_file(pool, copy) || apply(pool, copy, false) ? -1 : 0;
    nvmi_pool_detach(pool);
  }
  munmap(copy, size);
  return result;
}
