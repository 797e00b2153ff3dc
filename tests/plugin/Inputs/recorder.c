/* The recording runtime: see recorder.h. Its state is thread-local, so that it is never itself in
 * the watched memory, and it implements the whole of abi.def. */
#include "recorder.h"

#include "nvmove/abi.h"
#include "nvmove/abi_scanf.h"

/* What writes call is the runtime's own; behind it they come here. */
#define NVM_SITES_ALONE
#include "../../../runtime/tx/sites.c"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define REGIONS_MAX 4
#define FRAMES_MAX 64
#define AHEAD_MAX 1024
#define MAP_SIZE (UINT64_C(256) << 20) /* reserved, not touched */
#define LOG_SIZE (UINT64_C(1) << 33)   /* reserved, not touched */

/* One for all: the programs that record have one thread. */
static struct nvm_line_table lines;
_Thread_local struct nvm_line_table *__nvm_lines = &lines;

struct region {
  unsigned char *base, *before, *noted;
  size_t size;
};

struct entry {
  unsigned char *address;
  size_t size;
  unsigned char old[];
};

static _Thread_local struct {
  struct region regions[REGIONS_MAX];
  int region_count;
  unsigned char *log, *next;
  size_t notes, commits, faults;
  void *frames[FRAMES_MAX];
  int depth;
  struct {
    void *address;
    size_t size;
  } ahead[AHEAD_MAX]; /* not in force until they are settled */
  char *mapped;
} state;

static void *reserve(void *where, size_t size, int flags) {
  void *got = mmap(where, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  if (got == MAP_FAILED) {
    perror("recorder: mmap");
    _Exit(3);
  }
  return got;
}

static void begin(void) {
  if (!state.log)
    state.log = reserve(NULL, LOG_SIZE, 0);
  state.next = state.log;
  state.notes = 0;
  memset(&lines, 0, sizeof lines);
  for (int i = 0; i < state.region_count; i++) {
    struct region *r = &state.regions[i];
    memcpy(r->before, r->base, r->size);
    memset(r->noted, 0, r->size);
  }
}

void recorder_watch(void *from, void *to) {
  struct region *r = &state.regions[state.region_count++];
  r->base = from;
  r->size = (size_t)((char *)to - (char *)from);
  r->before = reserve(NULL, r->size, 0);
  r->noted = reserve(NULL, r->size, 0);
  begin();
}

void *recorder_map(size_t size) {
  if (!state.mapped)
    state.mapped = reserve((void *)NVM_RANGE_BASE, MAP_SIZE, MAP_FIXED_NOREPLACE);
  char *given = state.mapped;
  /* Blocks start at a line, with one between them, so that a stray note shows. */
  state.mapped += (size + 2 * NVM_LINE_SIZE - 1) / NVM_LINE_SIZE * NVM_LINE_SIZE + NVM_LINE_SIZE;
  recorder_watch(given, given + size);
  return given;
}

static void filter(uint64_t address, size_t size) {
  for (uint64_t byte = address; byte < address + size; byte++) {
    struct nvm_line *slot = &lines.slot[(byte >> 6) % NVM_LINE_SLOTS];
    if (slot->line != byte >> 6) {
      slot->line = byte >> 6;
      slot->missing = ~UINT64_C(0);
    }
    slot->missing &= ~(UINT64_C(1) << (byte & 63));
  }
}

static void note(void *address, size_t size) {
  struct entry *e = (struct entry *)state.next;
  e->address = address;
  e->size = size;
  memcpy(e->old, address, size);
  state.next += (sizeof *e + size + 7) / 8 * 8;
  state.notes++;
  filter((uint64_t)address, size);
  for (int i = 0; i < state.region_count; i++)
    for (size_t n = 0; n < size; n++) {
      size_t at = (size_t)((unsigned char *)address + n - state.regions[i].base);
      if (at < state.regions[i].size)
        state.regions[i].noted[at] = 1;
    }
}

NVM_CALL_PRESERVE_MOST void __nvm_note(void *address, size_t size) {
  if ((uint64_t)address - NVM_RANGE_BASE >= NVM_RANGE_SIZE || !size) {
    fprintf(stderr, "recorder: note of %zu bytes at %p, outside the range\n", size, address);
    state.faults++;
    return;
  }
  note(address, size);
}

void __nvm_note_if_persistent(void *address, size_t size) {
  if ((uint64_t)address - NVM_RANGE_BASE < NVM_RANGE_SIZE && size)
    note(address, size);
}

void __nvm_note_call(void *address, size_t size) {
  for (int i = 0; i < state.region_count; i++) {
    size_t at = (size_t)((unsigned char *)address - state.regions[i].base);
    if (at < state.regions[i].size && size > state.regions[i].size - at)
      size = state.regions[i].size - at;
  }
  __nvm_note_if_persistent(address, size);
}

void __nvm_note_vscanf(const void *format, size_t character, size_t bound, va_list list) {
  struct nvm_scan scan = {format, character, 0};
  struct nvm_scan_store store;
  while (nvm_scan_next(&scan, &store)) {
    va_list copy;
    va_copy(copy, list);
    for (unsigned i = 0; i < store.argument; i++)
      (void)va_arg(copy, void *);
    if (store.characters || bound != SIZE_MAX)
      __nvm_note_if_persistent(va_arg(copy, void *),
                               (store.characters ? store.characters : bound) * store.each +
                                   store.end);
    va_end(copy);
  }
}

void __nvm_note_scanf(const void *format, size_t character, size_t bound, ...) {
  va_list list;
  va_start(list, bound);
  __nvm_note_vscanf(format, character, bound, list);
  va_end(list);
}

NVM_CALL_PRESERVE_MOST void __nvm_note_ahead(void *address, size_t size) {
  if ((uint64_t)address - NVM_RANGE_BASE >= NVM_RANGE_SIZE || !size)
    return;
  if (lines.ahead == AHEAD_MAX)
    __nvm_drain();
  state.ahead[lines.ahead].address = address;
  state.ahead[lines.ahead++].size = size;
}

/* Only now: a store before it finds its old bytes changed already. */
NVM_CALL_PRESERVE_MOST void __nvm_drain(void) {
  for (size_t i = 0; i < lines.ahead; i++)
    note(state.ahead[i].address, state.ahead[i].size);
  lines.ahead = 0;
}

void __nvm_trace_store(void *address, size_t size, const struct nvm_site *site) {
  (void)address, (void)size, (void)site;
}

void __nvm_trace_output(int descriptor, const struct nvm_site *site) {
  (void)descriptor, (void)site;
}

void recorder_excuse(void *address, size_t size) { __nvm_note_if_persistent(address, size); }

/* Rolls a copy back, newest entry last in the log and so last in the list of their starts. */
static void roll_back(unsigned char *copy, const struct region *r) {
  size_t count = 0;
  for (unsigned char *at = state.log; at < state.next; count++)
    at += (sizeof(struct entry) + ((struct entry *)at)->size + 7) / 8 * 8;
  struct entry **entries = reserve(NULL, (count + 1) * sizeof *entries, 0);
  unsigned char *at = state.log;
  for (size_t i = 0; i < count; i++) {
    entries[i] = (struct entry *)at;
    at += (sizeof(struct entry) + entries[i]->size + 7) / 8 * 8;
  }
  for (size_t i = count; i-- > 0;)
    for (size_t n = 0; n < entries[i]->size; n++) {
      size_t place = (size_t)(entries[i]->address + n - r->base);
      if (place < r->size)
        copy[place] = entries[i]->old[n];
    }
  munmap(entries, (count + 1) * sizeof *entries);
}

int recorder_commit(void) {
  int wrong = 0;
  for (int i = 0; i < state.region_count && !wrong; i++) {
    struct region *r = &state.regions[i];
    unsigned char *copy = reserve(NULL, r->size, 0);
    memcpy(copy, r->base, r->size);
    roll_back(copy, r);
    for (size_t n = 0; n < r->size && !wrong; n++)
      if (copy[n] != r->before[n]) {
        fprintf(stderr, "recorder: byte %zu of region %d (%p) was written without a note\n", n, i,
                (void *)(r->base + n));
        wrong = 1;
      }
    munmap(copy, r->size);
  }
  state.faults += (size_t)wrong;
  state.commits++;
  begin();
  return wrong;
}

size_t recorder_notes(void) { return state.notes; }
size_t recorder_commits(void) { return state.commits; }

size_t recorder_bytes(void) {
  size_t bytes = 0;
  for (int i = 0; i < state.region_count; i++)
    for (size_t n = 0; n < state.regions[i].size; n++)
      bytes += state.regions[i].noted[n];
  return bytes;
}

int recorder_finish(void) {
  size_t notes = recorder_notes(), bytes = recorder_bytes();
  recorder_commit();
  printf("recorder: %zu notes, %zu bytes, %zu commits, %zu faults\n", notes, bytes, state.commits,
         state.faults);
  return state.faults != 0;
}

void __nvm_atomic_enter(void *frame) { state.frames[state.depth++ % FRAMES_MAX] = frame; }

static void leave_below(void *frame, int itself) {
  int depth = state.depth;
  while (depth && ((char *)state.frames[depth - 1] < (char *)frame ||
                   (itself && state.frames[depth - 1] == frame)))
    depth--;
  int left = depth != state.depth;
  state.depth = depth;
  if (left && !depth)
    recorder_commit();
}

void __nvm_atomic_leave(void *frame) { leave_below(frame, 1); }
void __nvm_atomic_landed(void *frame) { leave_below(frame, 0); }
void __nvm_atomic_thrown(void *frame, void *exception) { (void)exception, leave_below(frame, 0); }
void __nvm_atomic_passed(void *frame, void *exception) { (void)exception, leave_below(frame, 1); }
void __nvm_atomic_unwound(void *frame) { (void)frame; }

void __nvm_commit_point(void) {
  if (!state.depth)
    recorder_commit();
}

void __nvm_split_point(void) { __nvm_commit_point(); }

void __nvm_emulate(const char *profile, const char *types, unsigned loads, unsigned stores,
                   unsigned copies, unsigned commits) {
  (void)profile, (void)types, (void)loads, (void)stores, (void)copies, (void)commits;
}
__attribute__((preserve_most)) void __nvm_charge_load(const void *address, size_t size,
                                                      const char *types) {
  (void)address, (void)size, (void)types;
}
__attribute__((preserve_most)) void __nvm_charge_store(const void *address, size_t size,
                                                       const char *types) {
  (void)address, (void)size, (void)types;
}
__attribute__((preserve_most)) void __nvm_charge_volatile(const void *address, size_t size,
                                                          const char *types) {
  (void)address, (void)size, (void)types;
}
__attribute__((preserve_most)) void __nvm_charge_stored(const void *address, size_t size,
                                                        const char *types, uint64_t before,
                                                        uint64_t now) {
  (void)address, (void)size, (void)types, (void)before, (void)now;
}
void __nvm_charge_output(int descriptor) { (void)descriptor; }
void __nvm_charge_wait(void) {}

void __nvm_describe_untraced(const char *begin, const char *end) {
  (void)begin;
  (void)end;
}
void __nvm_describe_accesses(const char *begin, const char *end) {
  (void)begin;
  (void)end;
}
void __nvm_describe(const struct nvm_type *const *begin, const struct nvm_type *const *end) {
  (void)begin, (void)end;
}

void __nvm_check_pointer(void *slot, void *value, const struct nvm_site *site) {
  (void)slot;
  const char *file = strrchr(site->file, '/');
  if (value && (uint64_t)value - NVM_RANGE_BASE >= NVM_RANGE_SIZE)
    printf("%s:%u:%u: unsafe pointer in %s\n", file ? file + 1 : site->file, site->line,
           site->column, site->field ? site->field : "?");
}
