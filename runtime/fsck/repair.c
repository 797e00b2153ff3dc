/* repair.c: nvm_pool_repair: the image, the order of the parts, and what is said.
 *
 * Header first, since all places follow from it; then the log, since what it holds is part of the
 * data; types, for they say what pointers are; the heap's tables; the table of static data, whose
 * runs the heap's tables name; pointers last.
 */
#define _GNU_SOURCE
#include "fsck/repair.h"
#include "fsck/check_words.h"

#include "base/kill.h"
#include "core/header.h"
#include "core/map.h"
#include "gc/counts.h"
#include "heap/heap_types.h"
#include "platform/disk.h"
#include "pool/pool.h"
#include "symbols/statics.h"
#include "types/types.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { PAGE = 4096 };

static void tell(struct nvmi_repair *repair, enum nvm_repair_news news, const char *format,
                 va_list arguments) {
  char line[512];
  vsnprintf(line, sizeof line, format, arguments);
  if (repair->how->report)
    repair->how->report(repair->how->context, news, line);
}

void nvmi_mended(struct nvmi_repair *repair, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tell(repair, NVM_REPAIR_MENDED, format, arguments);
  va_end(arguments);
  repair->mended++;
}

void nvmi_left(struct nvmi_repair *repair, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tell(repair, NVM_REPAIR_LEFT, format, arguments);
  va_end(arguments);
  repair->left++;
}

const char *nvmi_said_of(const char *path) {
  const char *said = nvm_strerror();
  size_t size = strlen(path);
  bool has_path = strncmp(said, path, size) == 0 && said[size] == ':';
  return has_path ? said + size + 2 : said;
}

void nvmi_left_unread(struct nvmi_repair *repair) {
  nvmi_left(repair, "%s", nvmi_said_of(repair->pool->path));
}

/* Zero where the file ends too early: mapped, such pages would be SIGBUS. */
static int map_image(struct nvmi_repair *repair) {
  struct nvm_pool *pool = repair->pool;
  uint64_t size = nvmi_file_size(&pool->header);
  uint64_t there = repair->file_size < size ? repair->file_size : size;
  if (!repair->how->dry_run && nvmi_header_fill(pool))
    return -1;
  pool->home = nvmi_dram_reserve(size);
  if (pool->home &&
      mmap(pool->home, (there + PAGE - 1) & ~(uint64_t)(PAGE - 1), PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, pool->fd, 0) != MAP_FAILED)
    return 0;
  return nvmi_fail(NVM_ENOMEMORY, pool->path, "no room for an image of the pool: %s",
                   strerror(errno));
}

/* Chunks behind the end of the file that are not known to be free: they were in use, or the words
 * that would say it are missing, too, or damaged. What is missing reads as zero in the image, and
 * that says nothing. */
static uint64_t lost_behind_end(const struct nvmi_repair *repair) {
  struct nvm_pool *pool = repair->pool;
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT), there = 0;
  while (there < chunks && nvmi_chunk_offset(pool, there + 1) <= repair->file_size)
    there++;
  uint64_t lost = 0;
  for (uint32_t chunk = 0, count; chunk < chunks; chunk += count) {
    uint64_t word = *nvmi_chunk_word(pool, chunk);
    bool is_told = NVM_CHUNKS_OFFSET + (chunk + UINT64_C(1)) * sizeof word <= repair->file_size;
    count = word ? (uint32_t)(word >> 32) : 1;
    if (!is_told || !count || count > chunks - chunk || (word & 0xff) > NVM_CHUNK_COUNTS)
      return lost + (chunks - (chunk < there ? there : chunk));
    lost += (word & 0xff) > NVM_CHUNK_FREE && chunk + count > there ? count : 0;
  }
  return lost;
}

/* A file that ends too early: what is missing there? */
static void look_at_end(struct nvmi_repair *repair) {
  uint64_t size = nvmi_file_size(&repair->pool->header);
  if (repair->file_size >= size)
    return;
  uint64_t lost = lost_behind_end(repair);
  if (!lost)
    nvmi_mended(repair, "the file ended %llu bytes too early; all that lay there was free",
                (unsigned long long)(size - repair->file_size));
  else if (repair->how->null_dangling)
    nvmi_mended(repair, "the file ended %llu bytes too early; what was in %llu chunks is lost",
                (unsigned long long)(size - repair->file_size), (unsigned long long)lost);
  else
    nvmi_left(repair,
              "the file ends %llu bytes too early, and %llu chunks there were in use, or nothing "
              "says that they were free; what was in them is lost (--null-dangling gives it up)",
              (unsigned long long)(size - repair->file_size), (unsigned long long)lost);
  repair->spoils = lost && !repair->how->null_dangling;
}

/* Every pointer, in an image whose tables are sound. */
static void mend_pointers(struct nvmi_repair *repair) {
  struct nvm_pool *pool = repair->pool;
  if (nvmi_heap_start(pool)) {
    nvmi_left_unread(repair);
    return;
  }
  if (nvmi_mend_pointers(repair, repair->how->null_dangling) < 0)
    nvmi_left_unread(repair);
  nvmi_heap_stop(pool);
}

/* In their order; what one leaves may make the rest senseless. */
static void mend(struct nvmi_repair *repair) {
  look_at_end(repair);
  if (repair->spoils || !nvmi_repair_logs(repair) || !nvmi_repair_types(repair) ||
      !nvmi_repair_recover(repair) || !nvmi_repair_heap(repair))
    return;
  if (!nvmi_repair_classes(repair) || !nvmi_repair_blocks(repair) || !nvmi_repair_statics(repair))
    return;
  nvmi_repair_root(repair);
  if (!repair->how->tables_only)
    mend_pointers(repair);
}

/* Of tables that nothing leads to any more. */
static void free_runs(struct nvm_pool *pool, enum nvm_chunk_kind kind) {
  uint32_t chunks = (uint32_t)(pool->header.heap_size >> NVM_CHUNK_SHIFT);
  for (uint32_t chunk = 0, count; chunk < chunks; chunk += count) {
    uint64_t *word = nvmi_chunk_word(pool, chunk);
    count = *word ? (uint32_t)(*word >> 32) : 1;
    if (!count) /* told by who looks at the heap */
      return;
    if ((*word & 0xff) == kind)
      *word = NVM_CHUNK_ENTRY(NVM_CHUNK_FREE, 0, 0, count);
  }
}

/* What was mended may have been a reference; what cannot be read is done without. */
static void decide_counts(struct nvmi_repair *repair) {
  struct nvm_pool *pool = repair->pool;
  const char *fault = nvmi_counts_fault(pool);
  if (fault) {
    pool->header.counts = 0;
    free_runs(pool, NVM_CHUNK_COUNTS);
    nvmi_mended(repair, "%s; they are counted no longer (nvm_pool_count_references)", fault);
  } else if (pool->header.counts && repair->mended) {
    ((struct nvm_counts *)(pool->home + pool->header.counts))->exact = 0;
  }
}

static int repair_attached(struct nvmi_repair *repair) {
  struct nvm_pool *pool = repair->pool;
  struct stat status;
  bool over = false;
  if (fstat(pool->fd, &status))
    return nvmi_disk_fail(pool->path, "cannot be examined");
  if (!S_ISREG(status.st_mode) || status.st_size == 0)
    return nvmi_header_read(pool); /* says what it is */
  if (nvmi_repair_resume(repair, &over))
    return -1;
  if (over)
    return 0;
  if (fstat(pool->fd, &status))
    return nvmi_disk_fail(pool->path, "cannot be examined");
  repair->file_size = (uint64_t)status.st_size;
  unsigned before = repair->mended;
  if (nvmi_repair_header(repair) || map_image(repair))
    return -1;
  pool->persist = nvmi_persist_process();
  bool put = repair->mended != before;
  mend(repair);
  if (!repair->spoils)
    decide_counts(repair);
  if (put || repair->mended != before)
    nvmi_repair_put_header(repair);
  return repair->spoils || repair->how->dry_run || repair->mended == before
             ? 0
             : nvmi_repair_write(repair);
}

struct nvm_pool *nvmi_repair_take(const char *path, bool writable) {
  struct nvm_pool *pool = nvmi_pool_take(path, writable);
  if (!pool || !writable || !pool->is_copy)
    return pool;
  nvmi_fail(NVM_EARGUMENT, path, "NVMOVE_OPEN=copy says that the file is not written; unset it");
  nvmi_pool_detach(pool);
  return NULL;
}

long long nvm_pool_repair(const char *path, struct nvm_repair *how) {
  if (!how)
    return nvmi_fail(NVM_EARGUMENT, path, "no repair was described");
  nvmi_kill_arm();
  *how->copy = 0;
  struct nvm_pool *pool = nvmi_repair_take(path, !how->dry_run);
  if (!pool)
    return -1;
  struct nvmi_repair repair = {.pool = pool, .how = how};
  int result = repair_attached(&repair);
  nvmi_statics_stop(pool);
  nvmi_array_free(&repair.typeless, sizeof(struct nvmi_typeless));
  if (pool->home)
    munmap(pool->home, nvmi_file_size(&pool->header));
  pool->home = NULL;
  nvmi_pool_detach(pool);
  return result ? -1 : (long long)repair.left;
}
