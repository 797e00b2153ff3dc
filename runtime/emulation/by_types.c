/* by_types.c: see by_types.h. */
#define _GNU_SOURCE
#include "emulation/by_types.h"

#include "base/basics.h"
#include "base/own_files.h"
#include "base/settings.h"
#include "base/signals.h"
#include "base/uncancelled.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { COUNTED_MAX = 512 /* of a thread; a power of two */, SUMS_MAX = 1024, SHOWN = 20 };

struct table {
  struct table *next;
  unsigned used;
  const char *addresses[COUNTED_MAX]; /* of the texts, as compiled code has them */
  struct nvm_counted *all;            /* in the file, or in DRAM */
};

bool nvmi_by_types_wanted;
static int counts_fd = -1; /* of the file; it is not closed */
static dev_t counts_device;
static ino_t counts_inode;
static _Atomic(struct table *) tables;
static _Thread_local struct table *own __attribute__((tls_model("initial-exec")));

const char *nvmi_by_types_begin(void) {
  static char fault[200];
  const char *path = nvmi_setting("NVMOVE_EMULATE_COUNTS");
  struct stat status;
  nvmi_by_types_wanted = path || nvmi_setting_is("NVMOVE_STATS", "1");
  if (!path)
    return NULL;
  counts_fd = nvmi_open(path, O_RDWR | O_CREAT, 0600);
  if (counts_fd < 0 || fstat(counts_fd, &status)) {
    snprintf(fault, sizeof fault, "%.100s cannot be opened: %s", path, strerror(errno));
    return fault;
  }
  counts_device = status.st_dev;
  counts_inode = status.st_ino;
  return NULL;
}

static struct nvm_counted *grow(int fd, size_t size) {
  struct stat status;
  void *part = MAP_FAILED;
  flock(fd, LOCK_EX);
  if (fstat(fd, &status) == 0 &&
      NVMI_UNCANCELLED(posix_fallocate(fd, status.st_size, (off_t)size)) == 0)
    part = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, status.st_size);
  flock(fd, LOCK_UN); /* close would not end it: what is mapped is open */
  return part == MAP_FAILED ? NULL : part;
}

/* A part of the file that nobody else has, also of other processes. It is opened once more for that: threads, and a
 * parent and its children, share what they have open, so a lock would hold none of them up. Signals wait: a handler
 * would wait for the lock that its own thread has. Where there is no /proc, what is open has to do. */
static struct nvm_counted *part_of_file(size_t size) {
  struct stat status;
  char path[40];
  if (fstat(counts_fd, &status) || status.st_dev != counts_device || status.st_ino != counts_inode)
    return NULL; /* the program has closed it, and has another of this number */
  snprintf(path, sizeof path, "/proc/self/fd/%d", counts_fd);
  sigset_t before = nvmi_signals_hold();
  int fd = nvmi_open(path, O_RDWR, 0);
  struct nvm_counted *part = grow(fd < 0 ? counts_fd : fd, size);
  if (fd >= 0)
    NVMI_UNCANCELLED(close(fd));
  nvmi_signals_release(&before);
  return part;
}

static struct table *make(void) {
  const size_t size = COUNTED_MAX * sizeof(struct nvm_counted);
  struct table *made = nvmi_dram_reserve(sizeof *made);
  if (made)
    made->all = counts_fd >= 0 ? part_of_file(size) : nvmi_dram_reserve(size);
  if (!made || !made->all)
    return NULL;
  made->next = atomic_load(&tables);
  while (!atomic_compare_exchange_weak(&tables, &made->next, made))
    continue;
  return own = made;
}

/* Another library may have come to the address of one that is gone. */
struct nvm_counted *nvmi_by_types(const char *types) {
  struct table *table = own ? own : make();
  if (!table)
    return NULL;
  unsigned at = (unsigned)((uintptr_t)types * UINT64_C(0x9e3779b97f4a7c15) >> 55) % COUNTED_MAX;
  struct nvm_counted *found = &table->all[at];
  while (table->addresses[at] && (table->addresses[at] != types ||
                                  strncmp(found->types, types, sizeof found->types - 1) != 0)) {
    at = (at + 1) % COUNTED_MAX;
    found = &table->all[at];
  }
  if (table->addresses[at])
    return found;
  if (table->used == COUNTED_MAX / 2)
    return NULL;
  table->used++;
  table->addresses[at] = types;
  snprintf(found->types, sizeof found->types, "%s", types);
  return found;
}

static void add(struct nvm_counted *sums, unsigned *count, const struct nvm_counted *one) {
  if (!one->loads && !one->stores)
    return;
  unsigned i = 0;
  while (i < *count && strcmp(sums[i].types, one->types) != 0)
    i++;
  if (i == SUMS_MAX)
    return;
  if (i == *count)
    sums[(*count)++] = *one;
  else {
    sums[i].loads += one->loads;
    sums[i].stores += one->stores;
    sums[i].nanoseconds += one->nanoseconds;
  }
}

/* The most expensive first. */
static int by_cost(const void *a, const void *b) {
  const struct nvm_counted *x = a, *y = b;
  if (x->nanoseconds != y->nanoseconds)
    return x->nanoseconds < y->nanoseconds ? 1 : -1;
  uint64_t of_x = x->loads + x->stores, of_y = y->loads + y->stores;
  return of_x < of_y ? 1 : of_x > of_y ? -1 : strcmp(x->types, y->types);
}

void nvmi_by_types_tell(void) {
  if (!nvmi_by_types_wanted || !nvmi_setting_is("NVMOVE_STATS", "1"))
    return;
  static struct nvm_counted sums[SUMS_MAX];
  unsigned count = 0;
  for (const struct table *table = tables; table; table = table->next)
    for (unsigned i = 0; i < COUNTED_MAX; i++)
      add(sums, &count, &table->all[i]);
  qsort(sums, count, sizeof *sums, by_cost);
  for (unsigned i = 0; i < count && i < SHOWN; i++)
    nvmi_tell("nvmove:   through %s: %llu loads, %llu stores, %llu ns\n", sums[i].types,
              (unsigned long long)sums[i].loads, (unsigned long long)sums[i].stores,
              (unsigned long long)sums[i].nanoseconds);
  if (count > SHOWN)
    nvmi_tell("nvmove:   and %u others, which cost less\n", count - SHOWN);
}

/* What the parent has counted stays its own. */
void nvmi_by_types_forget(void) {
  tables = NULL;
  own = NULL;
}
