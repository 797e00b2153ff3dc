/* sync.c: see sync.h. */
#define _GNU_SOURCE
#include "platform/sync.h"

#include "base/basics.h"
#include "base/own_locks.h"
#include "base/uncancelled.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static struct synced {
  char *_Atomic home; /* NULL: none */
  char *work;
  size_t span;
  const char *path;
  _Atomic uint64_t asked; /* syncs that threads have asked for */
  uint64_t done;          /* of them; guarded by the lock, as the next one */
  bool has_failed;
} files[NVMI_SYNCED_MAX];
static _Atomic uint64_t count;
static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_SYNC];

/* Files (bits) with something that this thread's next fence waits for. */
static _Thread_local uint64_t unfenced __attribute__((tls_model("initial-exec")));

static bool lies_in(const char *start, size_t span, const char *at) {
  return start && (uintptr_t)at - (uintptr_t)start < span;
}

static void mark(const void *at) {
  for (unsigned i = 0; i < NVMI_SYNCED_MAX; i++) {
    const struct synced *file = &files[i];
    const char *home = atomic_load_explicit(&file->home, memory_order_acquire);
    if (home && (lies_in(home, file->span, at) || lies_in(file->work, file->span, at))) {
      unfenced |= UINT64_C(1) << i;
      return;
    }
  }
}

/* The handler may end the process by exit, which wants to close the pool. */
static _Noreturn void fail(const struct synced *file, bool again) {
  if (again)
    nvmi_die(file->path, "the disk has not taken what was written; it is not asked again");
  char cause[160];
  snprintf(cause, sizeof cause,
           "the disk has not taken what was written (%s); what was committed before is there. Look "
           "after the disk, then start again",
           strerror(errno));
  nvmi_fatal(NVM_ESYSTEM, file->path, cause);
}

/* Whoever comes first syncs for all who have asked by then. Signals wait: a handler that stores takes
 * locks of any rank. */
static void sync_file(struct synced *file) {
  uint64_t own = atomic_fetch_add(&file->asked, 1) + 1;
  struct nvmi_quiet quiet = nvmi_lock_quietly(lock);
  bool again = file->has_failed, failed = again;
  if (!failed && file->done < own) {
    uint64_t covered = atomic_load(&file->asked);
    do
      failed = NVMI_UNCANCELLED(
          msync(atomic_load_explicit(&file->home, memory_order_relaxed), file->span, MS_SYNC));
    while (failed && errno == EINTR);
    file->done = covered;
    file->has_failed = failed;
    atomic_fetch_add(&count, 1);
  }
  int cause = errno;
  nvmi_unlock_quietly(&quiet);
  errno = cause;
  if (failed)
    fail(file, again);
}

static void disk_stream(void *to, const void *from, size_t size) {
  nvmi_persist_process()->stream(to, from, size);
  mark(to);
}

static void disk_flush(const void *address, size_t size) {
  (void)size;
  nvmi_compiler_barrier();
  mark(address);
}

static void disk_store_line(void *to, const void *from, uint64_t mask) {
  nvmi_persist_process()->store_line(to, from, mask);
  mark(to);
}

static void disk_fence(void) {
  nvmi_compiler_barrier();
  uint64_t asked = unfenced;
  unfenced = 0;
  for (; asked; asked &= asked - 1)
    sync_file(&files[__builtin_ctzll(asked)]);
}

static void disk_fence_all(void) {
  nvmi_compiler_barrier();
  for (unsigned i = 0; i < NVMI_SYNCED_MAX; i++)
    if (atomic_load_explicit(&files[i].home, memory_order_acquire))
      sync_file(&files[i]);
}

const struct nvmi_persist *nvmi_persist_disk(void) {
  if (nvmi_persist_override)
    return nvmi_persist_override;
  static const struct nvmi_persist disk = {.name = "msync",
                                           .stream = disk_stream,
                                           .append = disk_stream,
                                           .flush = disk_flush,
                                           .fence = disk_fence,
                                           .fence_all = disk_fence_all,
                                           .store_line = disk_store_line};
  return &disk;
}

void nvmi_sync_add(unsigned index, char *home, char *work, size_t span, const char *path) {
  struct synced *file = &files[index];
  assert(index < NVMI_SYNCED_MAX && !file->home);
  file->work = work;
  file->span = span;
  file->path = path;
  file->has_failed = false;
  atomic_store_explicit(&file->home, home, memory_order_release);
}

void nvmi_sync_remove(unsigned index, const char *home) {
  if (home && files[index].home == home)
    atomic_store_explicit(&files[index].home, NULL, memory_order_release);
}

void nvmi_sync_forget(void) {
  unfenced = 0;
  for (unsigned i = 0; i < NVMI_SYNCED_MAX; i++)
    files[i].home = NULL;
}

void nvmi_sync_drop_cache(int fd) { posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); }

uint64_t nvmi_sync_count(void) { return atomic_load(&count); }
