/* by_types.c: see by_types.h. */
#include "emulation/by_types.h"

#include "base/basics.h"
#include "base/own_files.h"
#include "base/settings.h"
#include "base/uncancelled.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { TYPES_MAX = 1024 /* a power of two: of a thread; of all */, SHOWN = 20 };

struct counted {
  const char *types; /* NULL: a free place */
  struct nvmi_counts_by_types counts;
};
struct table {
  struct table *next;
  unsigned used;
  struct counted all[TYPES_MAX];
  struct counted others; /* behind a full table */
};

bool nvmi_by_types_wanted;
static _Atomic(struct table *) tables;
static _Thread_local struct table *own __attribute__((tls_model("initial-exec")));

void nvmi_by_types_begin(void) {
  nvmi_by_types_wanted =
      nvmi_setting_is("NVMOVE_STATS", "1") || nvmi_setting("NVMOVE_EMULATE_COUNTS");
}

static struct table *make(void) {
  struct table *made = nvmi_dram_reserve(sizeof *made);
  if (!made)
    return NULL;
  made->next = atomic_load(&tables);
  while (!atomic_compare_exchange_weak(&tables, &made->next, made))
    continue;
  return own = made;
}

struct nvmi_counts_by_types *nvmi_by_types(const char *types) {
  struct table *table = own ? own : make();
  if (!table)
    return NULL;
  unsigned at = (unsigned)((uintptr_t)types * UINT64_C(0x9e3779b97f4a7c15) >> 54) % TYPES_MAX;
  while (table->all[at].types && table->all[at].types != types)
    at = (at + 1) % TYPES_MAX;
  struct counted *found = &table->all[at];
  if (!found->types && table->used == TYPES_MAX / 2)
    return &table->others.counts;
  table->used += !found->types;
  found->types = types;
  return &found->counts;
}

static void add(struct counted *sums, unsigned *count, const struct counted *one) {
  if (!one->counts.loads && !one->counts.stores)
    return;
  const char *types = one->types ? one->types : "(others)";
  unsigned i = 0;
  while (i < *count && strcmp(sums[i].types, types) != 0)
    i++;
  if (i == TYPES_MAX)
    return;
  if (i == *count)
    sums[(*count)++] = (struct counted){.types = types};
  sums[i].counts.loads += one->counts.loads;
  sums[i].counts.stores += one->counts.stores;
  sums[i].counts.nanoseconds += one->counts.nanoseconds;
}

/* The most expensive first. */
static int by_cost(const void *a, const void *b) {
  const struct nvmi_counts_by_types *x = &((const struct counted *)a)->counts,
                                    *y = &((const struct counted *)b)->counts;
  if (x->nanoseconds != y->nanoseconds)
    return x->nanoseconds < y->nanoseconds ? 1 : -1;
  uint64_t of_x = x->loads + x->stores, of_y = y->loads + y->stores;
  return of_x < of_y ? 1
         : of_x > of_y
             ? -1
             : strcmp(((const struct counted *)a)->types, ((const struct counted *)b)->types);
}

/* Several processes may add to one file: each line is written at once. */
static void add_to_file(const char *path, const struct counted *sums, unsigned count) {
  int fd = nvmi_open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
  bool is_written = fd >= 0;
  for (unsigned i = 0; i < count && is_written; i++)
    is_written =
        dprintf(fd, "%s\t%llu\t%llu\t%llu\n", sums[i].types,
                (unsigned long long)sums[i].counts.loads, (unsigned long long)sums[i].counts.stores,
                (unsigned long long)sums[i].counts.nanoseconds) > 0;
  if (!is_written)
    nvmi_tell("nvmove: NVMOVE_EMULATE_COUNTS: %s cannot be written: %s\n", path, strerror(errno));
  if (fd >= 0)
    NVMI_UNCANCELLED(close(fd));
}

static void show(const struct counted *sums, unsigned count) {
  for (unsigned i = 0; i < count && i < SHOWN; i++)
    nvmi_tell("nvmove:   through %s: %llu loads, %llu stores, %llu ns\n", sums[i].types,
              (unsigned long long)sums[i].counts.loads, (unsigned long long)sums[i].counts.stores,
              (unsigned long long)sums[i].counts.nanoseconds);
  if (count > SHOWN)
    nvmi_tell("nvmove:   and %u others, which cost less\n", count - SHOWN);
}

void nvmi_by_types_tell(void) {
  if (!nvmi_by_types_wanted)
    return;
  static struct counted sums[TYPES_MAX];
  unsigned count = 0;
  for (const struct table *table = tables; table; table = table->next) {
    for (unsigned i = 0; i < TYPES_MAX; i++)
      add(sums, &count, &table->all[i]);
    add(sums, &count, &table->others);
  }
  qsort(sums, count, sizeof *sums, by_cost);
  if (nvmi_setting_is("NVMOVE_STATS", "1"))
    show(sums, count);
  const char *path = nvmi_setting("NVMOVE_EMULATE_COUNTS");
  if (path)
    add_to_file(path, sums, count);
}

void nvmi_by_types_forget(void) {
  tables = NULL;
  if (!own)
    return;
  memset(own, 0, sizeof *own);
  tables = own;
}
