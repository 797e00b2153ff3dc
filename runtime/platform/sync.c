/* sync.c: see sync.h. */
#define _GNU_SOURCE
#include "platform/sync.h"

#include "base/basics.h"
#include "base/own_locks.h"
#include "base/signals.h"
#include "base/uncancelled.h"
#include "platform/delayed.h"
#include "platform/pages.h"

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
#include <sys/vfs.h>
#include <unistd.h>

enum { UNFENCED_MAX = 16 };

static struct synced {
  char *_Atomic home; /* NULL: none */
  char *work;
  size_t range;
  const char *path;
  int fd;
  bool writes_ranges;      /* its file system takes sync_file_range for what it says */
  _Atomic bool is_delayed; /* delayed.h; of a file that was taken away it says nothing */
  _Atomic uint64_t uses;   /* of this number, so far */
  _Atomic uint64_t behind; /* how often something was put behind */
  /* Guarded by the lock: */
  struct nvmi_demand demand; /* of who has asked since the last sync began */
  uint64_t asked, done;      /* syncs that threads have asked for; of them */
  bool is_busy;              /* one runs */
  _Atomic uint32_t syncs;    /* that have ended: who waits for one waits here */
  uint64_t synced;           /* `behind` as it was before the last whole sync that has ended */
  _Atomic int cause;         /* errno of the one that failed */
} files[NVMI_SYNCED_MAX];
static _Atomic uint64_t count, whole_count; /* syncs that ended; of whole files */
static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_SYNC];

/* What this thread's next fence waits for: pages, and where these are too many, files (bits). Signal
 * handlers add to both. */
static _Thread_local struct {
  _Atomic uint64_t whole;
  _Atomic nvmi_pages pages[UNFENCED_MAX];
} unfenced __attribute__((tls_model("initial-exec")));

static bool lies_in(const char *start, size_t range, const char *at) {
  return start && (uintptr_t)at - (uintptr_t)start < range;
}

/* Its number, and where in it something lies; NVMI_SYNCED_MAX: in none. */
unsigned nvmi_sync_number(const char *at, uint64_t *offset) {
  for (unsigned i = 0; i < NVMI_SYNCED_MAX; i++) {
    const struct synced *file = &files[i];
    const char *home = atomic_load_explicit(&file->home, memory_order_acquire);
    if (!home)
      continue;
    *offset = (uint64_t)(at - (lies_in(home, file->range, at) ? home : file->work));
    if (*offset < file->range)
      return i;
  }
  return NVMI_SYNCED_MAX;
}

/* Null: it lies in none. */
static struct synced *synced_at(const char *at) {
  uint64_t offset;
  unsigned i = nvmi_sync_number(at, &offset);
  return i < NVMI_SYNCED_MAX ? &files[i] : NULL;
}

/* A file, and the use of its number. */
static nvmi_pages of_file(unsigned index) {
  uint64_t use = atomic_load(&files[index].uses) & ((1 << NVMI_USE_BITS) - 1);
  return use << NVMI_FILE_BITS | index;
}

static void mark(const void *at, size_t size) {
  uint64_t offset;
  unsigned i = nvmi_sync_number(at, &offset);
  if (i == NVMI_SYNCED_MAX || atomic_load_explicit(&unfenced.whole, memory_order_relaxed) >> i & 1)
    return;
  uint64_t first = offset >> NVMI_PAGE_SHIFT,
           end = (offset + size - 1 + NVMI_PAGE) >> NVMI_PAGE_SHIFT;
  for (unsigned slot = 0; slot < UNFENCED_MAX && (end - first) >> NVMI_COUNT_BITS == 0; slot++) {
    nvmi_pages own = nvmi_pages_from(first, end, of_file(i)), known = 0, both = own;
    while (both && !atomic_compare_exchange_weak(&unfenced.pages[slot], &known, both))
      both = known ? nvmi_pages_joined(known, own) : own;
    if (both)
      return;
  }
  atomic_fetch_or(&unfenced.whole, UINT64_C(1) << i);
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

/* Gives an errno; 0: it is on the disk. */
int nvmi_sync_bytes(char *start, size_t size) {
  int failed;
  do
    failed = NVMI_UNCANCELLED(msync(start, size, MS_SYNC));
  while (failed && errno == EINTR);
  return failed ? errno : 0;
}

/* Pages come to the disk; it may still have them in its own cache. */
static int write_pages(const struct synced *file, off_t start, off_t size) {
  enum {
    WHOLLY = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER
  };
  int failed;
  do
    failed = NVMI_UNCANCELLED(sync_file_range(file->fd, start, size, WHOLLY));
  while (failed && errno == EINTR);
  return failed ? errno : 0;
}

/* All but the last are only written where that can be done: the last one's sync empties the disk's
 * cache. */
static int meet(const struct synced *file, const struct nvmi_demand *demand) {
  if (file->is_delayed)
    return nvmi_delayed_bring((unsigned)(file - files), demand);
  char *home = atomic_load_explicit(&file->home, memory_order_relaxed);
  if (demand->whole)
    return nvmi_sync_bytes(home, file->range);
  int cause = 0;
  for (unsigned i = 0; i < demand->count && !cause; i++) {
    uint64_t start = nvmi_first_in(demand->pages[i]) << NVMI_PAGE_SHIFT;
    uint64_t size = nvmi_count_in(demand->pages[i]) << NVMI_PAGE_SHIFT;
    bool is_last = i + 1 == demand->count;
    cause = is_last || !file->writes_ranges ? nvmi_sync_bytes(home + start, size)
                                            : write_pages(file, (off_t)start, (off_t)size);
  }
  return cause;
}

/* One thread, for all who have asked by now. The lock is free meanwhile. */
static void lead(struct synced *file) {
  uint64_t covered = file->asked;
  struct nvmi_demand demand = file->demand;
  file->demand = (struct nvmi_demand){0};
  uint64_t behind = atomic_load(&file->behind);
  file->is_busy = true;
  nvmi_unlock(lock);
  int cause = meet(file, &demand);
  nvmi_lock(lock);
  file->is_busy = false;
  file->done = covered;
  file->cause = cause;
  if (demand.whole && !cause)
    file->synced = behind;
  atomic_fetch_add(&count, 1);
  atomic_fetch_add(&whole_count, demand.whole);
  atomic_fetch_add(&file->syncs, 1);
  syscall(SYS_futex, &file->syncs, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* For the end of the sync that runs. No condition variable: waiting for one is an event of the
 * program's threads (interpose/locks.c). */
static void await(struct synced *file) {
  uint32_t syncs = file->syncs;
  nvmi_unlock(lock);
  syscall(SYS_futex, &file->syncs, FUTEX_WAIT_PRIVATE, syncs, NULL, NULL, 0);
  nvmi_lock(lock);
}

static void add_demand(struct nvmi_demand *demand, bool whole, const nvmi_pages *pages,
                       unsigned number) {
  demand->whole |= whole;
  for (unsigned i = 0; i < number && !demand->whole; i++)
    if (demand->count < NVMI_RANGES_MAX)
      demand->pages[demand->count++] = pages[i];
    else
      demand->whole = true;
}

/* Of a file that is closed nothing is left to do. Signals wait: a handler may ask for a sync itself. */
static void sync_file(struct synced *file, bool whole, const nvmi_pages *pages, unsigned number) {
  sigset_t before = nvmi_signals_hold();
  nvmi_lock(lock);
  bool again = file->cause;
  uint64_t own = ++file->asked;
  add_demand(&file->demand, whole, pages, number);
  while (file->home && !file->cause && file->done < own)
    if (file->is_busy)
      await(file);
    else
      lead(file);
  int cause = file->cause;
  nvmi_unlock(lock);
  nvmi_signals_release(&before);
  if (cause)
    fail(file, cause, again);
}

static void disk_stream(void *to, const void *from, size_t size) {
  nvmi_persist_process()->stream(to, from, size);
  mark(to, size);
}

static void disk_flush(const void *address, size_t size) {
  nvmi_compiler_barrier();
  if (size)
    mark(address, size);
}

static void disk_store_line(void *to, const void *from, uint64_t mask) {
  nvmi_persist_process()->store_line(to, from, mask);
  mark(to, 1);
}

/* Those of the file that has this number now. A number is used again: of a use long ago pages may lie
 * behind the end. */
static unsigned take(const nvmi_pages *pages, unsigned index, nvmi_pages *taken) {
  uint64_t end = files[index].range >> NVMI_PAGE_SHIFT;
  unsigned count = 0;
  for (unsigned i = 0; i < UNFENCED_MAX; i++)
    if (pages[i] && nvmi_of_in(pages[i]) == of_file(index) &&
        nvmi_first_in(pages[i]) + nvmi_count_in(pages[i]) <= end)
      taken[count++] = pages[i];
  return count;
}

static void disk_fence(void) {
  nvmi_compiler_barrier();
  uint64_t whole = atomic_exchange(&unfenced.whole, 0), asked = whole;
  nvmi_pages pages[UNFENCED_MAX], taken[UNFENCED_MAX];
  for (unsigned i = 0; i < UNFENCED_MAX; i++)
    if ((pages[i] = atomic_exchange(&unfenced.pages[i], 0)))
      asked |= UINT64_C(1) << nvmi_file_in(pages[i]);
  for (; asked; asked &= asked - 1) {
    unsigned index = (unsigned)__builtin_ctzll(asked), count = take(pages, index, taken);
    if (count || whole >> index & 1)
      sync_file(&files[index], whole >> index & 1, taken, count);
  }
}

static void disk_fence_all(const void *home) {
  nvmi_compiler_barrier();
  struct synced *file = synced_at(home);
  if (file)
    sync_file(file, true, NULL, 0);
}

/* This thread's next fence does not wait for this file; false: it would not anyway. */
static bool forget(unsigned index) {
  uint64_t file = UINT64_C(1) << index;
  bool some = atomic_fetch_and(&unfenced.whole, ~file) & file;
  for (unsigned i = 0; i < UNFENCED_MAX; i++) {
    nvmi_pages pages = atomic_load(&unfenced.pages[i]);
    if (pages && nvmi_file_in(pages) == index &&
        atomic_compare_exchange_strong(&unfenced.pages[i], &pages, 0))
      some = true;
  }
  return some;
}

/* No page needs to be remembered then. */
static void begin_behind(const void *home) {
  uint64_t offset;
  unsigned i = nvmi_sync_number(home, &offset);
  if (i < NVMI_SYNCED_MAX)
    atomic_fetch_or(&unfenced.whole, UINT64_C(1) << i);
}

static void end_behind(const void *home) {
  uint64_t offset;
  unsigned i = nvmi_sync_number(home, &offset);
  if (i < NVMI_SYNCED_MAX && forget(i))
    atomic_fetch_add(&files[i].behind, 1);
}

/* Where a sync of the whole file has begun since, it has to end, too. */
static void fence_behind(const void *home) {
  nvmi_compiler_barrier();
  struct synced *file = synced_at(home);
  if (!file)
    return;
  nvmi_lock(lock);
  bool is_synced = file->synced == atomic_load(&file->behind);
  nvmi_unlock(lock);
  if (!is_synced)
    sync_file(file, true, NULL, 0);
}

/* Pages that this thread's next fence waits for. */
static bool has_unfenced(unsigned index) {
  bool some = atomic_load_explicit(&unfenced.whole, memory_order_relaxed) >> index & 1;
  for (unsigned i = 0; i < UNFENCED_MAX && !some; i++) {
    nvmi_pages pages = atomic_load_explicit(&unfenced.pages[i], memory_order_relaxed);
    some = pages && nvmi_file_in(pages) == index;
  }
  return some;
}

void nvmi_sync_recorded(unsigned index) {
  struct synced *file = &files[index];
  if (NVMI_UNLIKELY(atomic_load_explicit(&file->cause, memory_order_relaxed)))
    fail(file, file->cause, true);
  if (NVMI_UNLIKELY(has_unfenced(index)))
    disk_fence();
}

void nvmi_sync_records(unsigned index) {
  if (files[index].home && files[index].is_delayed)
    sync_file(&files[index], false, NULL, 0);
}

void nvmi_sync_delay(unsigned index) { files[index].is_delayed = true; }

const struct nvmi_persist *nvmi_persist_disk(void) {
  if (nvmi_persist_override)
    return nvmi_persist_override;
  static const struct nvmi_persist_behind behind = {
      .begin = begin_behind, .end = end_behind, .fence = fence_behind};
  static const struct nvmi_persist disk = {.name = "msync",
                                           .stream = disk_stream,
                                           .append = disk_stream,
                                           .flush = disk_flush,
                                           .fence = disk_fence,
                                           .fence_all = disk_fence_all,
                                           .behind = &behind,
                                           .store_line = disk_store_line};
  return &disk;
}

/* Of others it is not known. */
static bool writes_ranges(int fd) {
  enum { EXT4 = 0xef53, XFS = 0x58465342 };
  struct statfs of;
  return fstatfs(fd, &of) == 0 && (of.f_type == EXT4 || of.f_type == XFS);
}

void nvmi_sync_add(unsigned index, char *home, char *work, size_t range, const char *path, int fd) {
  struct synced *file = &files[index];
  assert(index < NVMI_SYNCED_MAX && !file->home);
  file->work = work;
  file->range = range;
  file->path = path;
  file->fd = fd;
  file->writes_ranges = writes_ranges(fd);
  atomic_fetch_add(&file->uses, 1);
  file->is_delayed = false;
  file->cause = 0;
  file->demand = (struct nvmi_demand){0};
  file->synced = atomic_load(&file->behind);
  atomic_store_explicit(&file->home, home, memory_order_release);
}

void nvmi_sync_remove(unsigned index, const char *home) {
  struct synced *file = &files[index];
  if (!home || file->home != home)
    return;
  sigset_t before = nvmi_signals_hold();
  nvmi_lock(lock);
  while (file->is_busy)
    await(file);
  atomic_store_explicit(&file->home, NULL, memory_order_release);
  nvmi_unlock(lock);
  nvmi_signals_release(&before);
}

void nvmi_sync_in_child(bool has_mappings) {
  for (unsigned i = 0; i < NVMI_SYNCED_MAX; i++) {
    files[i].is_busy = false;
    if (files[i].is_delayed)
      nvmi_delayed_in_child(i, has_mappings);
    if (!has_mappings)
      files[i].home = NULL;
  }
  if (!has_mappings)
    atomic_store(&unfenced.whole, 0); /* pages are of uses of their numbers that are over */
}

void nvmi_sync_drop_cache(int fd) { posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); }

uint64_t nvmi_sync_count(bool whole) { return atomic_load(whole ? &whole_count : &count); }
