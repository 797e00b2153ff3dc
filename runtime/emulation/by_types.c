/* by_types.c: see by_types.h. */
#define _GNU_SOURCE
#include "emulation/by_types.h"

#include "base/basics.h"
#include "base/likely.h"
#include "base/memory.h"
#include "base/own_files.h"
#include "base/settings.h"
#include "base/signals.h"
#include "base/uncancelled.h"
#include "emulation/spend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bits of the number of a table's places: of the first, of the last ones; each has twice as many as the one before. */
enum { FIRST_BITS = 4, LAST_BITS = 12 };
enum { SHOWN = 20, NO_PLACE = 2 /* exit status */ };

/* Half of the places at most are taken. */
struct nvmi_types_table {
  struct nvmi_types_table *older;
  unsigned used, bits;
  struct nvm_counted *all; /* in the file, or in DRAM */
  const char *addresses[]; /* of the texts, as compiled code has them; null: a free place */
};

bool nvmi_by_types_wanted;
static const char *counts_path; /* absolute; null: no file is wanted */
static int counts_fd = -1;      /* of the file; it is not closed */
static dev_t counts_device;
static ino_t counts_inode;

const char *nvmi_by_types_begin(void) {
  static char fault[200];
  const char *path = nvmi_setting("NVMOVE_EMULATE_COUNTS");
  struct stat status;
  nvmi_by_types_wanted = path || nvmi_setting_is("NVMOVE_STATS", "1");
  if (!path)
    return NULL;
  counts_fd = nvmi_open(path, O_RDWR | O_CREAT, 0600);
  counts_path = realpath(path, NULL);
  if (counts_fd < 0 || !counts_path || fstat(counts_fd, &status)) {
    snprintf(fault, sizeof fault, "%.100s cannot be opened: %s", path, strerror(errno));
    return fault;
  }
  if (status.st_size % sysconf(_SC_PAGESIZE)) {
    snprintf(fault, sizeof fault, "%.100s is no file of counts; name one that does not exist",
             path);
    return fault;
  }
  counts_device = status.st_dev;
  counts_inode = status.st_ino;
  return NULL;
}

static bool is_counts(int fd) {
  struct stat status;
  return fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == counts_device &&
         status.st_ino == counts_inode;
}

static struct nvm_counted *grow(int fd, size_t size) {
  struct stat status;
  void *part = MAP_FAILED;
  flock(fd, LOCK_EX);
  if (fstat(fd, &status) == 0 &&
      (errno = NVMI_UNCANCELLED(posix_fallocate(fd, status.st_size, (off_t)size))) == 0)
    part = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, status.st_size);
  int failed = errno;
  flock(fd, LOCK_UN); /* close would not end it: what is mapped is open */
  errno = failed;
  return part == MAP_FAILED ? NULL : part;
}

/* A part of the file that nobody else has, also of other processes. It is opened once more for that: threads, and a
 * parent and its children, share what they have open, so a lock would hold none of them up. Where it cannot be found
 * any more (chroot), what is open has to do, if the program has not closed that. */
static struct nvm_counted *part_of_file(size_t size) {
  int fd = nvmi_open(counts_path, O_RDWR, 0);
  bool is_found = is_counts(fd);
  struct nvm_counted *part = NULL;
  if (is_found || is_counts(counts_fd))
    part = grow(is_found ? fd : counts_fd, size);
  else
    errno = ENOENT;
  int failed = errno;
  if (fd >= 0)
    NVMI_UNCANCELLED(close(fd));
  errno = failed;
  return part;
}

/* Ends the program where there is no place: what it would count without one is wrong. */
static struct nvmi_types_table *make(struct nvmi_types_table *older) {
  unsigned bits = !older ? FIRST_BITS : older->bits < LAST_BITS ? older->bits + 1 : LAST_BITS;
  size_t places = (size_t)1 << bits, size = places * sizeof(struct nvm_counted);
  struct nvmi_types_table *made = nvmi_dram_reserve(sizeof *made + places * sizeof(char *));
  if (made)
    made->all = counts_path ? part_of_file(size) : nvmi_dram_reserve(size);
  if (!made || !made->all) {
    nvmi_tell("nvmove: %s: no place for counts in %s: %s\n",
              counts_path ? "NVMOVE_EMULATE_COUNTS" : "emulation",
              counts_path ? counts_path : "memory", strerror(errno));
    _exit(NO_PLACE);
  }
  made->bits = bits;
  made->older = older;
  return made;
}

/* Whether `names` are those of `types`, or the first ones where these are too long together (copy_names). */
static bool are_of(const struct nvm_counted *counted, const char *types) {
  const char *names = counted->types;
  if (NVMI_LIKELY(strcmp(names, types) == 0))
    return true;
  return strnlen(types, sizeof counted->types) == sizeof counted->types &&
         strncmp(names, types, strlen(names)) == 0;
}

/* The place of `types` in a table, or a free one: both where a search would end. Another library may have come to the
 * address of one that is gone. */
static unsigned place_of(const struct nvmi_types_table *table, const char *types) {
  unsigned last = (1u << table->bits) - 1;
  unsigned at = (unsigned)((uintptr_t)types * UINT64_C(0x9e3779b97f4a7c15) >> (64 - table->bits));
  while (table->addresses[at] && (table->addresses[at] != types || !are_of(&table->all[at], types)))
    at = (at + 1) & last;
  return at;
}

static struct nvm_counted *find(const struct nvmi_types_table *table, const char *types) {
  for (; table; table = table->older) {
    unsigned at = place_of(table, types);
    if (NVMI_LIKELY(table->addresses[at] != NULL))
      return &table->all[at];
  }
  return NULL;
}

/* So many of the names as there is room for: each whole, but a single one. */
static void copy_names(char *to, size_t room, const char *types) {
  size_t length = strnlen(types, room);
  if (length == room) {
    for (length = room - 1; length && types[length] != ',';)
      length--;
    length = length ? length : room - 1;
  }
  memcpy(to, types, length);
  to[length] = 0;
}

/* Signals wait: a handler would find the place half made, or wait for the lock that its own thread has. */
static struct nvm_counted *add_types(struct nvmi_types_table **newest, const char *types) {
  sigset_t before = nvmi_signals_hold();
  struct nvm_counted *found = find(*newest, types); /* a handler may have come before */
  if (!found) {
    if (!*newest || (*newest)->used == (1u << (*newest)->bits) / 2)
      *newest = make(*newest);
    unsigned at = place_of(*newest, types);
    found = &(*newest)->all[at];
    copy_names(found->types, sizeof found->types, types);
    (*newest)->used++;
    (*newest)->addresses[at] = types;
  }
  nvmi_signals_release(&before);
  return found;
}

struct nvm_counted *nvmi_by_types(struct nvmi_types_table **newest, const char *types) {
  struct nvm_counted *found = find(*newest, types);
  return NVMI_LIKELY(found != NULL) ? found : add_types(newest, types);
}

static void add(struct nvm_counted *sums, unsigned *count, const struct nvm_counted *one) {
  if (!one->loads && !one->stores)
    return;
  unsigned i = 0;
  while (i < *count && strcmp(sums[i].types, one->types) != 0)
    i++;
  if (i == *count) {
    sums[(*count)++] = *one;
    return;
  }
  sums[i].loads += one->loads;
  sums[i].stores += one->stores;
  sums[i].nanoseconds += one->nanoseconds;
}

/* The most expensive first. */
static int by_cost(const void *a, const void *b) {
  const struct nvm_counted *x = a, *y = b;
  if (x->nanoseconds != y->nanoseconds)
    return x->nanoseconds < y->nanoseconds ? 1 : -1;
  uint64_t of_x = x->loads + x->stores, of_y = y->loads + y->stores;
  return of_x < of_y ? 1 : of_x > of_y ? -1 : strcmp(x->types, y->types);
}

/* Those of a thread; gives how many there may be, where `sums` is null. */
static size_t add_all(const struct nvmi_types_table *table, struct nvm_counted *sums,
                      unsigned *count) {
  size_t most = 0;
  for (; table; table = table->older) {
    most += table->used;
    for (size_t i = 0; sums && i < (size_t)1 << table->bits; i++)
      add(sums, count, &table->all[i]);
  }
  return most;
}

static size_t add_threads(struct nvm_counted *sums, unsigned *count) {
  size_t most = 0;
  for (const struct nvmi_charged *each = nvmi_charged_next(NULL); each;
       each = nvmi_charged_next(each))
    most += add_all(each->types, sums, count);
  return most;
}

void nvmi_by_types_tell(void) {
  if (!nvmi_by_types_wanted || !nvmi_setting_is("NVMOVE_STATS", "1"))
    return;
  unsigned count = 0;
  size_t most = add_threads(NULL, &count);
  struct nvm_counted *sums = most ? nvmi_dram_reserve(most * sizeof *sums) : NULL;
  if (!sums)
    return;
  add_threads(sums, &count);
  qsort(sums, count, sizeof *sums, by_cost);
  for (unsigned i = 0; i < count && i < SHOWN; i++)
    nvmi_tell("nvmove:   through %s: %llu loads, %llu stores, %llu ns\n", sums[i].types,
              (unsigned long long)sums[i].loads, (unsigned long long)sums[i].stores,
              (unsigned long long)sums[i].nanoseconds);
  if (count > SHOWN)
    nvmi_tell("nvmove:   and %u others, which cost less\n", count - SHOWN);
}
