/* sync.c: see sync.h. */
#define _GNU_SOURCE
#include "platform/sync.h"

#include "base/basics.h"
#include "base/own_locks.h"
#include "base/uncancelled.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct synced {
  char *_Atomic home; /* NULL: none */
  char *work;
  size_t span;
  const char *path;
  /* Guarded by the lock: */
  uint64_t asked, done;   /* syncs that threads have asked for; of them */
  bool is_busy;           /* one runs */
  _Atomic uint32_t syncs; /* that have ended: who waits for one waits here */
  int cause;              /* errno of the one that failed */
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
static _Noreturn void fail(const struct synced *file, int error, bool again) {
  if (again)
    nvmi_die(file->path, "the disk has not taken what was written; it is not asked again");
  char cause[200];
  snprintf(cause, sizeof cause,
           "the disk has not taken what was written (%s); what was committed before is there. Look "
           "after the disk, then start again",
           strerror(error));
  nvmi_fatal(NVM_ESYSTEM, file->path, cause);
}

/* One thread, for all who have asked by now. The lock is free meanwhile. */
static void lead(struct synced *file) {
  uint64_t covered = file->asked;
  int failed;
  file->is_busy = true;
  nvmi_unlock(lock);
  do
    failed = NVMI_UNCANCELLED(
        msync(atomic_load_explicit(&file->home, memory_order_relaxed), file->span, MS_SYNC));
  while (failed && errno == EINTR);
  int cause = errno;
  nvmi_lock(lock);
  file->is_busy = false;
  file->done = covered;
  file->cause = failed ? cause : 0;
  atomic_fetch_add(&count, 1);
  atomic_fetch_add(&file->syncs, 1);
  syscall(SYS_futex, &file->syncs, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* For the end of the sync that runs. No condition variable: waiting for one is an event of the program's
 * threads (order/locks.c). */
static void await(struct synced *file) {
  uint32_t syncs = file->syncs;
  nvmi_unlock(lock);
  syscall(SYS_futex, &file->syncs, FUTEX_WAIT_PRIVATE, syncs, NULL, NULL, 0);
  nvmi_lock(lock);
}

/* Of a file that is closed nothing is left to do. Signals wait: a handler that stores takes locks of any rank, and may ask for a sync itself. */
static void sync_file(struct synced *file) {
  struct nvmi_quiet quiet = nvmi_lock_quietly(lock);
  bool again = file->cause;
  uint64_t own = ++file->asked;
  while (file->home && !file->cause && file->done < own)
    if (file->is_busy)
      await(file);
    else
      lead(file);
  int cause = file->cause;
  nvmi_unlock_quietly(&quiet);
  if (cause)
    fail(file, cause, again);
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
  file->cause = 0;
  atomic_store_explicit(&file->home, home, memory_order_release);
}

void nvmi_sync_remove(unsigned index, const char *home) {
  struct synced *file = &files[index];
  if (!home || file->home != home)
    return;
  struct nvmi_quiet quiet = nvmi_lock_quietly(lock);
  while (file->is_busy)
    await(file);
  atomic_store_explicit(&file->home, NULL, memory_order_release);
  nvmi_unlock_quietly(&quiet);
}

void nvmi_sync_in_child(bool has_mappings) {
  for (unsigned i = 0; i < NVMI_SYNCED_MAX; i++) {
    files[i].is_busy = false;
    if (!has_mappings)
      files[i].home = NULL;
  }
  if (!has_mappings)
    unfenced = 0;
}

void nvmi_sync_drop_cache(int fd) { posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); }

uint64_t nvmi_sync_count(void) { return atomic_load(&count); }
