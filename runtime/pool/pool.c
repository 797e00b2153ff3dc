/* pool.c: create and open.
 *
 * A pool is created as a nameless file and linked to its path when it is whole, so a crash or a
 * failure leaves nothing behind. Open recovers before it hands out the pool; until the generation
 * has grown the file means the same as before (invariant I3 of layout.h).
 */
#define _GNU_SOURCE
#include "pool/pool.h"
#include "base/uncancelled.h"
#include "emulation/charge.h"
#include "platform/sync.h"

#include "base/kill.h"
#include "base/own_files.h"
#include "base/own_locks.h"
#include "base/settings.h"
#include "core/header.h"
#include "core/map.h"
#include "emulation/media.h"
#include "gc/counts.h"
#include "heap/heap_types.h"
#include "log/log.h"
#include "platform/delayed.h"
#include "platform/disk.h"
#include "pool/choice.h"
#include "pool/durable.h"
#include "pool/events.h"
#include "pool/owners.h"
#include "pool/recover.h"
#include "pool/relocate.h"
#include "pool/root.h"
#include "symbols/statics.h"
#include "trace/trace.h"
#include "tx/dram_limit.h"
#include "types/compare.h"
#include "types/described.h"
#include "types/types.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static_assert(sizeof(struct nvm_pool) < 65536, "one mapping of DRAM");

static bool usable(const char *path) {
  if (nvmi_emulates()) {
    nvmi_fail(
        NVM_EARGUMENT, path,
        "this program was compiled with --emulate, which announces no writes: the pool would lose "
        "them; compile it without");
    return false;
  }
  const char *fault = nvmi_media_fault();
  if (fault) {
    nvmi_fail(NVM_EARGUMENT, path, "NVMOVE_EMULATE: %s", fault);
    return false;
  }
  if (path && *path && strlen(path) < PATH_MAX)
    return nvmi_settings_check(path) == 0;
  nvmi_fail(NVM_EARGUMENT, NULL,
            path && *path ? "the path is too long; choose a shorter one"
                          : "no path was given; name the pool's file");
  return false;
}

static struct nvm_pool *new_pool(const char *path) {
  struct nvm_pool *pool =
      mmap(NULL, sizeof *pool, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pool == MAP_FAILED)
    return NULL;
  pool->fd = -1;
  pool->order = 1;
  pool->run_owners = nvmi_run_owners;
  nvmi_mutex_add(&pool->lock, NVMI_LOCK_POOL);
  nvmi_mutex_add(&pool->checkpointing, NVMI_LOCK_CHECKPOINT);
  nvmi_mutex_add(&pool->numbering, NVMI_LOCK_NUMBERING);
  snprintf(pool->path, sizeof pool->path, "%s", path);
  nvmi_pointers_choose(pool);
  pool->compare = nvmi_setting_is("NVMOVE_DEBUG", "compare");
  if (pool->compare)
    nvmi_compares = true;
  pool->is_copy = nvmi_setting_is("NVMOVE_OPEN", "copy");
  return pool;
}

void nvmi_pool_detach(struct nvm_pool *pool) {
  if (pool->fd >= 0)
    nvmi_own_file_close(pool->fd);
  nvmi_mutex_remove(&pool->lock);
  nvmi_mutex_remove(&pool->checkpointing);
  nvmi_mutex_remove(&pool->numbering);
  nvmi_types_free(pool);
  munmap(pool, sizeof *pool);
}

/* The superuser may open a write-protected file; that is no reason to change it. */
static bool is_read_only(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && !(status.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH));
}

static void refuse_locked(const char *path, bool writable) {
  if (errno != EWOULDBLOCK)
    nvmi_disk_fail(path, "cannot be locked");
  else if (writable)
    nvmi_fail(NVM_EBUSY, path,
              "the pool is open already, here, in another process, or in a tool that looks at it; "
              "close it there");
  else
    nvmi_fail(NVM_EBUSY, path,
              "the pool is open already, here or in another process; close it there, or look at a "
              "copy ('nvmove pool backup' makes one)");
}

/* Also of who only looks, until it is done: what a private mapping has not shown yet is what others
 * write meanwhile. */
struct nvm_pool *nvmi_pool_take(const char *path, bool writable) {
  if (!usable(path))
    return NULL;
  struct nvm_pool *pool = new_pool(path);
  if (!pool) {
    nvmi_fail(NVM_ENOMEMORY, path, "out of memory");
    return NULL;
  }
  writable = writable && !pool->is_copy;
  pool->fd = nvmi_disk_open(path, writable ? O_RDWR : O_RDONLY);
  if (pool->fd < 0)
    ; /* recorded */
  else if (flock(pool->fd, (writable ? LOCK_EX : LOCK_SH) | LOCK_NB))
    refuse_locked(path, writable);
  else if (writable && is_read_only(pool->fd))
    nvmi_fail(NVM_EREADONLY, path, "nobody may write the file; allow it (chmod u+w)");
  else
    return pool;
  nvmi_pool_detach(pool);
  return NULL;
}

struct nvm_pool *nvmi_pool_attach(const char *path, bool writable) {
  struct nvm_pool *pool = nvmi_pool_take(path, writable);
  if (!pool || nvmi_header_read(pool) == 0)
    return pool;
  nvmi_pool_detach(pool);
  return NULL;
}

static int open_new(struct nvm_pool *pool, const char *folder, char *name, size_t name_size) {
  pool->fd = nvmi_disk_open_new(pool->path, folder, nvmi_own_file_open, 0666, name, name_size);
  if (pool->fd < 0)
    return -1;
  flock(pool->fd, LOCK_EX);
  return 0;
}

static int give_name(struct nvm_pool *pool, const char *folder, const char *name) {
  char link_path[64];
  snprintf(link_path, sizeof link_path, "/proc/self/fd/%d", pool->fd);
  const char *from = *name ? name : link_path;
  if (linkat(AT_FDCWD, from, AT_FDCWD, pool->path, AT_SYMLINK_FOLLOW))
    return nvmi_disk_fail(pool->path, "cannot be created");
  int folder_fd = nvmi_open(folder, O_RDONLY | O_DIRECTORY, 0);
  int result = folder_fd < 0 ? nvmi_disk_fail(folder, "cannot be opened")
                             : nvmi_disk_sync(folder, folder_fd);
  if (folder_fd >= 0)
    NVMI_UNCANCELLED(close(folder_fd));
  if (result)
    unlink(pool->path);
  return result;
}

static int start(struct nvm_pool *pool) {
  if (nvmi_map_pool(pool, pool->method->private_work))
    return -1;
  if (pool->header.domain == NVM_DOMAIN_DISK)
    nvmi_sync_add(pool->index, pool->home, pool->work, pool->header.range, pool->path, pool->fd);
  if (nvmi_heap_start(pool) || nvmi_dram_limit_start(pool))
    return -1;
  nvmi_events_install();
  nvmi_locks_look();
  return 0;
}

void nvmi_pool_undo_start(struct nvm_pool *pool) {
  nvmi_counts_stop(pool);
  nvmi_dram_limit_stop(pool);
  nvmi_statics_stop(pool);
  nvmi_heap_stop(pool);
  if (pool->file)
    nvmi_delayed_stop(pool->index);
  nvmi_sync_remove(pool->index, pool->home);
  nvmi_unmap_pool(pool);
  nvmi_lock(&nvmi_locks[NVMI_LOCK_QUIESCE]); /* whose owner knows pools by their numbers */
  nvmi_map_release(pool);
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_QUIESCE]);
}

static int create_file(struct nvm_pool *pool, const char *folder, char *name, size_t name_size) {
  if (open_new(pool, folder, name, name_size))
    return -1;
  const struct nvm_header *h = &pool->header;
  nvmi_step(NVMI_STEP_CREATE);
  if (nvmi_disk_allocate(pool->path, pool->fd, 0,
                         NVM_CHUNKS_OFFSET + nvmi_chunk_table_size(h->heap_size),
                         NVMI_PATIENCE_MAKE) ||
      nvmi_disk_allocate(pool->path, pool->fd, h->heap_offset, h->heap_size, NVMI_PATIENCE_MAKE))
    return -1;
  nvmi_domain_choose(pool);
  if (nvmi_method_choose(pool) || nvmi_map_claim(pool, 0))
    return -1;
  pool->header.base = (uint64_t)(uintptr_t)pool->work;
  if (start(pool) == 0 && nvmi_statics_start(pool) == 0) {
    nvmi_root_make(pool);
    nvmi_trace_open(pool);
    nvmi_header_write(pool);
    nvmi_step(NVMI_STEP_CREATE);
    if (nvmi_disk_sync(pool->path, pool->fd) == 0 && nvmi_delay_start(pool) == 0 &&
        give_name(pool, folder, name) == 0)
      return 0;
    nvmi_trace_drop(pool);
  }
  nvmi_pool_undo_start(pool);
  return -1;
}

/* Also libraries that were loaded meanwhile describe its types: `types` is the generation before. */
static void use(struct nvm_pool *pool, unsigned types) {
  pool->in_use = true;
  if (nvmi_types_generation() != types)
    nvmi_types_learn(pool);
}

NVM_POOL *nvm_pool_create(const char *path, size_t size) {
  unsigned types = nvmi_types_generation();
  nvmi_kill_arm();
  if (!usable(path))
    return NULL;
  if (faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0) {
    nvmi_fail(
        NVM_EEXISTS, path, "%s",
        access(path, F_OK) == 0
            ? "the file exists; open it, or remove it first"
            : "it is a symbolic link that leads nowhere; remove it, or make it lead to a pool");
    return NULL;
  }
  struct nvm_pool *pool = new_pool(path);
  if (!pool) {
    nvmi_fail(NVM_ENOMEMORY, path, "out of memory");
    return NULL;
  }
  char copy[PATH_MAX], name[PATH_MAX];
  snprintf(copy, sizeof copy, "%s", path);
  *name = 0;
  int result = pool->is_copy ? nvmi_fail(NVM_EARGUMENT, path,
                                         "NVMOVE_OPEN=copy opens pools and creates none; unset it")
                             : nvmi_header_init(pool, size);
  if (result == 0)
    result = create_file(pool, dirname(copy), name, sizeof name);
  if (*name)
    unlink(name);
  if (result) {
    nvmi_pool_detach(pool);
    return NULL;
  }
  nvmi_trace_opened(pool);
  use(pool, types);
  return pool;
}

/* Recovers with the generation of the log, then starts the next one. Crash before the header is
 * written: the same again; after: the logs are empty. */
static int recover(struct nvm_pool *pool, const struct nvm_header *old) {
  uint32_t new_method = pool->header.method, new_format = pool->header.log_format;
  pool->header.method = old->method;
  pool->header.log_format = old->log_format;
  if (pool->header.state == NVM_STATE_OPEN) {
    if (nvmi_recover(pool, false))
      return -1;
    if (pool->counts && nvmi_counts_recover(pool))
      return -1;
    pool->header.unclean_shutdowns += !pool->is_copy;
  }
  nvmi_step(NVMI_STEP_RECOVER);
  pool->header.method = new_method;
  pool->header.log_format = new_format;
  nvmi_log_next_generation(pool);
  return 0;
}

/* Another program's pointers are left as they are. */
static int relink_statics(struct nvm_pool *pool) {
  return pool->is_foreign ? 0 : nvmi_statics_relink(pool);
}

/* Recovered, and then refused: nothing was logged since, so there is nothing to recover next time.
 * The header names the program before. */
static int refuse(struct nvm_pool *pool, const uint8_t *program) {
  memcpy(pool->header.build_id, program, sizeof pool->header.build_id);
  pool->header.state = NVM_STATE_CLEAN;
  nvmi_header_write(pool);
  return -1;
}

/* The second half of an opening. Crash in steps 6 and 7: the next opening does them again from the same
 * logs. From step 8 on: the logs are empty, and what carries pointers over goes on where it was, or anew
 * (relocate.h, statics.h).
 * `old`: the header as it was found. */
static int open_started(struct nvm_pool *pool, const struct nvm_header *old) {
  unsigned types = nvmi_types_generation();
  uint8_t program[sizeof pool->header.build_id];
  /* 4. The file is mapped. 5. Log and heap get their tables: in DRAM. */
  if (start(pool))
    return -1;
  nvmi_trace_open(pool);
  memcpy(program, pool->header.build_id, sizeof program);
  if (!pool->is_foreign)
    nvmi_header_name_program(&pool->header);
  /* 6. Logs are undone and replayed with the method that wrote them.
   * 7. The header names the next generation: what the logs have is of no generation any more. */
  if (nvmi_counts_start(pool) || recover(pool, old))
    return -1;
  /* 8. Root, types, addresses and pointers to statics are looked at, and made to fit this process. */
  if (nvmi_root_check(pool) || nvmi_types_load(pool) || nvmi_types_match(pool) ||
      nvmi_relocate(pool) || nvmi_statics_start(pool) || relink_statics(pool) ||
      nvmi_delay_start(pool))
    return refuse(pool, program);
  nvmi_trace_opened(pool);
  use(pool, types);
  return 0;
}

/* On a disk: what processes before have left in the page cache comes to the disk, for all that
 * follows relies on it. What a sync of theirs has failed to bring there the page cache has as if it
 * were: so it is read anew. The header is not: all that it tells was synced before it was written. */
static int read_from_disk(const struct nvm_pool *pool) {
  if (nvmi_disk_sync(pool->path, pool->fd))
    return -1;
  if (pool->header.state == NVM_STATE_OPEN)
    nvmi_sync_drop_cache(pool->fd);
  return 0;
}

/* Up to step 5 nothing is written but, on a disk, what the page cache has anyway. */
static NVM_POOL *open_pool(const char *path, const void *base, bool is_foreign) {
  nvmi_kill_arm();
  /* 1. The file is locked, its header read. */
  struct nvm_pool *pool = nvmi_pool_attach(path, true);
  if (!pool)
    return NULL;
  uint64_t wish = base ? (uint64_t)(uintptr_t)base : nvmi_setting_number("NVMOVE_BASE");
  if (wish && !nvmi_is_base(&pool->header, wish)) {
    nvmi_fail(NVM_EARGUMENT, path,
              "cannot lie at %#llx: that is no multiple of %llu GiB from %#llx on within %llu GiB; "
              "choose one that is",
              (unsigned long long)wish, (unsigned long long)(pool->header.range >> 30),
              (unsigned long long)NVM_RANGE_BASE, (unsigned long long)(NVM_RANGE_SIZE >> 30));
    nvmi_pool_detach(pool);
    return NULL;
  }
  pool->is_foreign = is_foreign;
  /* 2. What it survives, and how writes are made atomic. */
  nvmi_domain_choose(pool);
  if ((!pool->is_copy && nvmi_header_fill(pool)) ||
      (pool->header.domain == NVM_DOMAIN_DISK && read_from_disk(pool))) {
    nvmi_pool_detach(pool);
    return NULL;
  }
  struct nvm_header old = pool->header;
  /* 3. Its addresses are taken. */
  if (nvmi_method_choose(pool) == 0 && nvmi_map_claim(pool, wish) == 0) {
    if (open_started(pool, &old) == 0)
      return pool;
    nvmi_trace_drop(pool);
    nvmi_pool_undo_start(pool);
  }
  nvmi_pool_detach(pool);
  return NULL;
}

NVM_POOL *nvm_pool_open(const char *path) { return open_pool(path, NULL, false); }

NVM_POOL *nvm_pool_open_at(const char *path, const void *base) {
  return open_pool(path, base, false);
}

NVM_POOL *nvm_pool_open_foreign(const char *path) { return open_pool(path, NULL, true); }

const void *nvm_pool_base(NVM_POOL *pool) { return pool ? pool->work : NULL; }

NVM_POOL *nvm_pool_of(const void *address) { return nvmi_pool_at(address); }
