/* repair_apply.c: how what was mended reaches the file, and how it is put back.
 *
 * A copy (repair_copy.h) is durable before the pool changes. Then, each step durable before the
 * next: both header copies get a checksum that never holds, and that says which file it is
 * (NVM_CHECK_REPAIR): there may be several, and numbers are used again once one is removed. All
 * ranges but these checksums are written; they are. Crash before the first: nothing happened. After:
 * no opening succeeds, until a repair has written all ranges once more, from the copy. Crash within
 * the last step: one header copy at least still has the mark, or both are whole.
 *
 * Where the file cannot be written, what was changed until then is put back: the words that differ
 * and no others, for there the file could be written. Where that fails, too, the mark stays, and the
 * next repair goes on as after a crash.
 *
 * The file has its new size before the ranges are written. What a range has behind that end is not written: the
 * file would become longer again.
 *
 * Before anything is written from a copy, each of its ranges is compared with the file: what is
 * neither as it was nor as it will be, word by word, was written by somebody else since.
 */
#define _GNU_SOURCE
#include "fsck/repair_copy.h"

#include "base/kill.h"
#include "platform/disk.h"
#include "pool/pool.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORD = 8, PART = 4096 };

/* Whether each word of the file is as it was or as it will be. */
static int check_file(const struct nvm_pool *pool, const struct nvmi_copy *copy) {
  const uint64_t *before = (const void *)nvmi_copy_before(copy),
                 *after = (const void *)nvmi_copy_after(copy);
  for (uint64_t i = 0; i < copy->ranges; i++) {
    struct nvmi_copy_range range = nvmi_copy_ranges(copy)[i];
    for (uint64_t at = range.offset; at < range.offset + range.size; at += WORD) {
      uint64_t word;
      if (nvmi_copy_read(pool, &word, WORD, at))
        return -1;
      if (word != *before && word != *after &&
          !(nvmi_is_header_check(at) && nvmi_is_repair_mark(word)))
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

/* How much of a range a file of this size has: what lies behind its end must not make it longer again. */
static uint64_t size_within(struct nvmi_copy_range range, uint64_t file_size) {
  uint64_t left = range.offset < file_size ? file_size - range.offset : 0;
  return range.size < left ? range.size : left;
}

/* The headers' checksums, or all words but those, of a file of this size. */
static int write_ranges(const struct nvm_pool *pool, const struct nvmi_copy *copy,
                        const char *bytes, bool checks, uint64_t file_size) {
  for (uint64_t i = 0; i < copy->ranges; bytes += nvmi_copy_ranges(copy)[i++].size) {
    struct nvmi_copy_range range = nvmi_copy_ranges(copy)[i];
    uint64_t size = size_within(range, file_size);
    if (size && nvmi_is_header_check(range.offset) == checks &&
        nvmi_copy_write(pool->path, pool->fd, bytes, size, range.offset))
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
static int apply(struct nvm_pool *pool, const struct nvmi_copy *copy, bool forward) {
  const uint64_t mark = nvmi_copy_mark(copy);
  uint64_t size = forward ? copy->pool_size_after : copy->pool_size_before;
  const char *bytes = forward ? nvmi_copy_after(copy) : nvmi_copy_before(copy);
  for (uint64_t i = 0; i < 2; i++)
    if (nvmi_copy_write(pool->path, pool->fd, &mark, sizeof mark,
                        i * NVM_HEADER_COPY_SIZE + offsetof(struct nvm_header, check)))
      return -1;
  return nvmi_disk_sync(pool->path, pool->fd) || set_size(pool, size) ||
                 write_ranges(pool, copy, bytes, false, size) ||
                 write_ranges(pool, copy, bytes, true, size)
             ? -1
             : 0;
}

/* What the file does not have of these bytes. */
static int write_missing(const struct nvm_pool *pool, const char *bytes, uint64_t size,
                         uint64_t offset) {
  char there[PART];
  for (uint64_t done = 0, part; done < size; done += part) {
    part = size - done < PART ? size - done : PART;
    if (nvmi_copy_read(pool, there, part, offset + done))
      return -1;
    for (uint64_t at = 0, end; at < part; at = end) {
      bool same = memcmp(there + at, bytes + done + at, WORD) == 0;
      for (end = at + WORD; end < part && !memcmp(there + end, bytes + done + end, WORD) == same;)
        end += WORD;
      if (!same &&
          nvmi_copy_write(pool->path, pool->fd, bytes + done + at, end - at, offset + done + at))
        return -1;
    }
  }
  return 0;
}

/* As it was before apply(); the checksums last, each step durable before the next. */
static int put_back(struct nvm_pool *pool, const struct nvmi_copy *copy, bool forward) {
  const char *all = forward ? nvmi_copy_before(copy) : nvmi_copy_after(copy);
  uint64_t file_size = forward ? copy->pool_size_before : copy->pool_size_after;
  if (set_size(pool, file_size))
    return -1;
  for (unsigned checks = 0; checks < 2; checks++) {
    const char *bytes = all;
    for (uint64_t i = 0; i < copy->ranges; bytes += nvmi_copy_ranges(copy)[i++].size) {
      struct nvmi_copy_range range = nvmi_copy_ranges(copy)[i];
      if (nvmi_is_header_check(range.offset) == checks &&
          write_missing(pool, bytes, size_within(range, file_size), range.offset))
        return -1;
    }
    if (nvmi_disk_sync(pool->path, pool->fd))
      return -1;
  }
  return 0;
}

/* Records, behind the failure before, that the pool is half written. */
static int stays_marked(const struct nvm_pool *pool, enum nvm_error code, const char *why,
                        const char *name) {
  return nvmi_fail(code, pool->path,
                   "%s. The pool cannot be opened before 'nvmove pool repair' has finished by what "
                   "is kept in %s",
                   why, name);
}

/* Done, or as before: 0, or -1: recorded, also where it is neither. `*put`: it is as before. */
static int apply_or_put_back(struct nvm_pool *pool, const struct nvmi_copy *copy, bool forward,
                             const char *name, bool *put) {
  char why[512];
  *put = false;
  if (apply(pool, copy, forward) == 0)
    return 0;
  enum nvm_error code = nvm_errno();
  snprintf(why, sizeof why, "%s", nvmi_said_of(pool->path));
  *put = put_back(pool, copy, forward) == 0;
  return *put ? nvmi_fail(code, pool->path, "%s", why) : stays_marked(pool, code, why, name);
}

int nvmi_repair_write(struct nvmi_repair *repair) {
  struct nvmi_copy *copy = nvmi_copy_make(repair);
  char *name = repair->how->copy;
  bool put = false;
  if (!copy)
    return -1;
  int result =
      nvmi_copy_save(repair, copy) || apply_or_put_back(repair->pool, copy, true, name, &put) ? -1
                                                                                              : 0;
  if (put) {
    unlink(name);
    *name = 0;
  }
  munmap(copy, nvmi_copy_size(copy));
  return result;
}

static int go_on(struct nvm_pool *pool, const struct nvmi_copy *copy, const char *name) {
  char why[512];
  if (apply(pool, copy, true) == 0)
    return 0;
  snprintf(why, sizeof why, "%s", nvmi_said_of(pool->path));
  return stays_marked(pool, nvm_errno(), why, name);
}

int nvmi_repair_resume(struct nvmi_repair *repair, bool *over) {
  struct nvm_pool *pool = repair->pool;
  char name[PATH_MAX + 40];
  uint64_t size, mark = nvmi_copy_mark_in(pool);
  *over = mark && repair->how->dry_run;
  if (!mark)
    return 0;
  struct nvmi_copy *copy =
      nvmi_copy_find(pool, mark, name, sizeof name) ? nvmi_copy_load(name, &size) : NULL;
  if (!copy)
    return -1;
  int result = check_file(pool, copy) || (!*over && go_on(pool, copy, name)) ? -1 : 0;
  munmap(copy, size);
  if (result == 0 && *over)
    nvmi_mended(repair,
                "a repair was interrupted; it would be finished by what is kept in %s, and "
                "what is wrong then is not looked at before",
                name);
  else if (result == 0)
    nvmi_mended(repair, "a repair that was interrupted was finished");
  return result;
}

int nvm_pool_repair_undo(const char *path, const char *name) {
  uint64_t size;
  nvmi_kill_arm();
  struct nvmi_copy *copy = nvmi_copy_load(name, &size);
  if (!copy)
    return -1;
  struct nvm_pool *pool = nvmi_repair_take(path, true);
  int result = -1;
  if (pool) {
    bool put;
    result = check_file(pool, copy) || apply_or_put_back(pool, copy, false, name, &put) ? -1 : 0;
    nvmi_pool_detach(pool);
  }
  munmap(copy, size);
  return result;
}
