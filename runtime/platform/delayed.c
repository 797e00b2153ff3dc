/* delayed.c: see delayed.h. */
#define _GNU_SOURCE
#include "platform/delayed.h"

#include "platform/late_sync.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

enum { COPIES = 1024 }; /* pages that are copied aside at a time: 4 MiB */

static struct delayed {
  char *home, *file;
  uint64_t pages;
  _Atomic uint64_t *changed; /* bits: pages of `home` that `file` does not have yet */
  char *copies;
  uint64_t *copied;          /* which pages these are */
  _Atomic uint64_t recorded; /* all records below this number are in the page cache */
  uint64_t synced;           /* on the disk; of the thread that brings */
} all[NVMI_SYNCED_MAX];

static uint64_t bitmap_size(const struct delayed *d) { return (d->pages + 63) / 64 * 8; }

static void *dram(size_t size) {
  void *at =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

static void release(struct delayed *d) {
  if (d->changed)
    munmap((void *)d->changed, bitmap_size(d));
  if (d->copies)
    munmap(d->copies, (size_t)COPIES * NVMI_PAGE);
  if (d->copied)
    munmap(d->copied, COPIES * sizeof *d->copied);
  *d = (struct delayed){0};
}

/* Behind the store: who takes the bit back afterwards sees it. */
static void change(const void *address, size_t size) {
  uint64_t offset;
  unsigned i = nvmi_sync_number(address, &offset);
  if (i == NVMI_SYNCED_MAX || !size)
    return;
  for (uint64_t page = offset >> NVMI_PAGE_SHIFT; page <= (offset + size - 1) >> NVMI_PAGE_SHIFT;
       page++)
    if (nvmi_page_is_private(page))
      atomic_fetch_or(&all[i].changed[page / 64], UINT64_C(1) << page % 64);
}

static void delayed_stream(void *to, const void *from, size_t size) {
  nvmi_persist_disk()->stream(to, from, size);
  change(to, size);
}

static void delayed_flush(const void *address, size_t size) {
  nvmi_persist_disk()->flush(address, size);
  change(address, size);
}

static void delayed_store_line(void *to, const void *from, uint64_t mask) {
  nvmi_persist_disk()->store_line(to, from, mask);
  change(to, 1);
}

/* To both: a page with the header of a segment, which has frames behind it, may be copied later. */
static void delayed_append(void *to, const void *from, size_t size) {
  uint64_t offset;
  unsigned i = nvmi_sync_number(to, &offset);
  nvmi_persist_process()->append(to, from, size);
  nvmi_persist_process()->append(all[i].file + offset, from, size);
}

static void delayed_record(const void *home, uint64_t below) {
  uint64_t offset;
  unsigned i = nvmi_sync_number(home, &offset);
  atomic_store_explicit(&all[i].recorded, below, memory_order_release);
  nvmi_late_sync_ask(i);
  nvmi_sync_recorded(i);
}

static struct nvmi_persist delayed = {.name = "msync, delayed",
                                      .stream = delayed_stream,
                                      .append = delayed_append,
                                      .flush = delayed_flush,
                                      .record = delayed_record,
                                      .store_line = delayed_store_line};

static void take_over(void) {
  const struct nvmi_persist *disk = nvmi_persist_disk();
  delayed.fence = disk->fence;
  delayed.fence_all = disk->fence_all;
  delayed.behind = disk->behind;
}

const struct nvmi_persist *nvmi_persist_delayed(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, take_over);
  return &delayed;
}

int nvmi_delayed_start(unsigned index, char *home, char *file, size_t range, unsigned ms) {
  struct delayed *d = &all[index];
  *d = (struct delayed){.home = home, .file = file, .pages = range >> NVMI_PAGE_SHIFT};
  d->changed = dram(bitmap_size(d));
  d->copies = dram((size_t)COPIES * NVMI_PAGE);
  d->copied = dram(COPIES * sizeof *d->copied);
  if (d->changed && d->copies && d->copied && nvmi_late_sync_start(index, ms) == 0) {
    nvmi_sync_delay(index);
    return 0;
  }
  /* This keeps errno: a munmap of what mmap gave does not fail. */
  release(d);
  return -1;
}

void nvmi_delayed_stop(unsigned index) {
  nvmi_late_sync_stop(index);
  release(&all[index]);
}

void nvmi_delayed_in_child(unsigned index, bool goes_on) {
  nvmi_late_sync_in_child(index);
  if (!goes_on)
    release(&all[index]);
}

/* By words, each as it is at one moment: others store there. */
__attribute__((no_sanitize("thread"))) static void copy_page(char *to, const char *from) {
  for (size_t i = 0; i < NVMI_PAGE; i += 8)
    *(uint64_t *)(to + i) = *(const volatile uint64_t *)(from + i);
}

/* Where the look for changed pages goes on. */
struct walk {
  unsigned range;
  uint64_t page;
};

/* Gives how many copies there are then. */
static unsigned copy(struct delayed *d, uint64_t page, unsigned count) {
  uint64_t bit = UINT64_C(1) << page % 64;
  if (!(atomic_load_explicit(&d->changed[page / 64], memory_order_relaxed) & bit))
    return count;
  atomic_fetch_and(&d->changed[page / 64], ~bit);
  copy_page(d->copies + (uint64_t)count * NVMI_PAGE, d->home + (page << NVMI_PAGE_SHIFT));
  d->copied[count] = page;
  return count + 1;
}

static unsigned copy_all(struct delayed *d, struct walk *walk) {
  unsigned count = 0;
  while (walk->page < d->pages && count < COPIES) {
    uint64_t left =
        atomic_load_explicit(&d->changed[walk->page / 64], memory_order_relaxed) >> walk->page % 64;
    if (!left) {
      walk->page = (walk->page / 64 + 1) * 64;
      continue;
    }
    count = copy(d, walk->page++, count);
  }
  return count;
}

static unsigned copy_ranges(struct delayed *d, const struct nvmi_demand *demand,
                            struct walk *walk) {
  unsigned count = 0;
  for (; walk->range < demand->count; walk->range++, walk->page = 0) {
    nvmi_pages pages = demand->pages[walk->range];
    for (; walk->page < nvmi_count_in(pages); walk->page++) {
      if (count == COPIES)
        return count;
      count = copy(d, nvmi_first_in(pages) + walk->page, count);
    }
  }
  return count;
}

/* So a recovery knows of these that no crash has taken them. The word itself comes to the disk by the
 * next sync; until then an older one says less. */
static void tell(struct delayed *d, uint64_t below) {
  struct nvm_floor *floor = (struct nvm_floor *)(d->file + NVM_FLOOR_OFFSET);
  if (d->synced == below)
    return;
  d->synced = below;
  __atomic_store_n(&floor->durable, below, __ATOMIC_RELAXED);
}

static int sync_all(struct delayed *d) {
  uint64_t below = atomic_load(&d->recorded);
  int cause = nvmi_sync_bytes(d->file, d->pages << NVMI_PAGE_SHIFT);
  if (!cause)
    tell(d, below);
  return cause;
}

static bool has_records(struct delayed *d) { return atomic_load(&d->recorded) > d->synced; }

/* Crash before the first sync: nothing of the copies is in the file. After: the records of all that
 * they show are durable. Before the last sync any part of them is in place; no bound says so yet. */
int nvmi_delayed_bring(unsigned index, const struct nvmi_demand *demand) {
  struct delayed *d = &all[index];
  struct walk walk = {0, 0};
  unsigned count;
  while ((count = demand->whole ? copy_all(d, &walk) : copy_ranges(d, demand, &walk))) {
    int cause = has_records(d) ? sync_all(d) : 0;
    if (cause)
      return cause;
    for (unsigned i = 0; i < count; i++)
      memcpy(d->file + (d->copied[i] << NVMI_PAGE_SHIFT), d->copies + (uint64_t)i * NVMI_PAGE,
             NVMI_PAGE);
  }
  return demand->whole || demand->count || has_records(d) ? sync_all(d) : 0;
}
