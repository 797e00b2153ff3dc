/* keeper.c: a runtime for programs of --nvmove-redirect that keeps every store elsewhere than in place.
 *
 * A stored byte is kept aside until somebody asks for it in place, or until a commit comes at a moment that
 * nobody can foresee. So a load that is no call, or a function that finds bytes in place for which nobody asked,
 * sees what was there before: the program's output differs. It has the functions of recorder.h, and is linked in
 * place of the recorder. The programs have one thread.
 */
#include "recorder.h"

#include "nvmove/abi.h"
#include "nvmove/abi_scanf.h"

/* What writes call is the runtime's own; behind it they come here. */
#define NVM_SITES_ALONE
#include "../../runtime/tx/sites.c"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAP_SIZE (UINT64_C(1) << 30) /* reserved, not touched */
enum { RANGES_MAX = 1 << 16, COMMIT_EACH = 3000 /* stores, on average */ };

struct range {
  unsigned char *address;
  size_t size;
};

static _Thread_local struct nvm_line_table lines;
_Thread_local struct nvm_line_table *__nvm_lines;

/* Thread-local, so that it is never itself in memory that is kept. */
static _Thread_local struct {
  unsigned char *values, *kept; /* of each byte of the reserved range */
  struct range *ranges;         /* stored since all of it was in place */
  size_t count, loads, stores, commits;
  uint64_t dice, calls; /* that may call back */
  char *mapped;
} state;

static void *reserve(void *where, size_t size, int flags) {
  void *got = mmap(where, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
  if (got == MAP_FAILED) {
    perror("keeper: mmap");
    _Exit(3);
  }
  return got;
}

__attribute__((constructor(101))) static void start(void) {
  __nvm_lines = &lines;
  state.values = reserve(NULL, NVM_RANGE_SIZE, 0);
  state.kept = reserve(NULL, NVM_RANGE_SIZE, 0);
  state.ranges = reserve(NULL, RANGES_MAX * sizeof *state.ranges, 0);
  state.dice = 88172645463325252u;
}

static bool is_ours(const void *address) {
  return (uint64_t)address - NVM_RANGE_BASE < NVM_RANGE_SIZE;
}

static size_t place(const unsigned char *address) { return (uint64_t)address - NVM_RANGE_BASE; }

static void settle(unsigned char *address, size_t size) {
  for (size_t i = 0; i < size; i++)
    if (is_ours(address + i) && state.kept[place(address + i)]) {
      address[i] = state.values[place(address + i)];
      state.kept[place(address + i)] = 0;
    }
}

void __nvm_settle(const void *address, size_t size) { settle((unsigned char *)address, size); }

void __nvm_settle_all(void) {
  for (size_t i = 0; i < state.count; i++)
    settle(state.ranges[i].address, state.ranges[i].size);
  state.count = 0;
}

uint64_t __nvm_call_begin(void) {
  __nvm_settle_all();
  return state.calls++;
}

void __nvm_call_end(uint64_t before) { state.calls = before; }

void __nvm_settle_before(const void *function) {
  uint64_t magic;
  memcpy(&magic, (const char *)function - sizeof magic, sizeof magic);
  if (magic != NVM_REDIRECTED_MAGIC)
    __nvm_settle_all();
}

static void maybe_commit(void) {
  state.dice ^= state.dice << 13;
  state.dice ^= state.dice >> 7;
  state.dice ^= state.dice << 17;
  if (state.count < RANGES_MAX && state.dice % COMMIT_EACH)
    return;
  state.commits++;
  __nvm_settle_all();
}

static void load(unsigned char *to, const unsigned char *from, size_t size) {
  state.loads++;
  for (size_t i = 0; i < size; i++)
    to[i] =
        is_ours(from + i) && state.kept[place(from + i)] ? state.values[place(from + i)] : from[i];
}

static void store(unsigned char *to, const unsigned char *from, size_t size) {
  if (!is_ours(to) || state.calls) {
    settle(to, is_ours(to) ? size : 0);
    memmove(to, from, size);
    return;
  }
  maybe_commit();
  state.stores++;
  for (size_t i = 0; i < size; i++) {
    state.values[place(to + i)] = from[i];
    state.kept[place(to + i)] = 1;
  }
  state.ranges[state.count++] = (struct range){to, size};
}

uint64_t __nvm_get(const void *address, size_t size) {
  uint64_t value = 0;
  load((unsigned char *)&value, address, size);
  return value;
}

void __nvm_put(void *address, uint64_t value, size_t size) {
  store(address, (unsigned char *)&value, size);
}

void __nvm_copy(void *to, const void *from, size_t size) {
  unsigned char *all = reserve(NULL, size + 1, 0);
  load(all, from, size);
  store(to, all, size);
  munmap(all, size + 1);
}

void __nvm_fill(void *to, int byte, size_t size) {
  unsigned char piece[4096];
  memset(piece, byte, sizeof piece);
  for (size_t done = 0, part; done < size; done += part) {
    part = size - done < sizeof piece ? size - done : sizeof piece;
    store((unsigned char *)to + done, piece, part);
  }
}

/* What is noted is stored in place. */
NVM_CALL_PRESERVE_MOST void __nvm_note(void *address, size_t size) { settle(address, size); }
NVM_CALL_PRESERVE_MOST void __nvm_note_ahead(void *address, size_t size) { settle(address, size); }
NVM_CALL_PRESERVE_MOST void __nvm_drain(void) {}
void __nvm_note_if_persistent(void *address, size_t size) {
  settle(address, is_ours(address) ? size : 0);
}
void __nvm_note_call(void *address, size_t size) {
  if (is_ours(address))
    settle(address, size < MAP_SIZE ? size : 0); /* longer: all of it was asked for */
}
void __nvm_note_vscanf(const void *format, size_t character, size_t bound, va_list list) {
  (void)format, (void)character, (void)bound, (void)list;
}
void __nvm_note_scanf(const void *format, size_t character, size_t bound, ...) {
  (void)format, (void)character, (void)bound;
}

void recorder_watch(void *from, void *to) { (void)from, (void)to; }

void *recorder_map(size_t size) {
  if (!state.mapped)
    state.mapped = reserve((void *)NVM_RANGE_BASE, MAP_SIZE, MAP_FIXED_NOREPLACE);
  char *given = state.mapped;
  state.mapped += (size + 2 * NVM_LINE_SIZE - 1) / NVM_LINE_SIZE * NVM_LINE_SIZE;
  return given;
}

void recorder_excuse(void *address, size_t size) { settle(address, size); }

int recorder_commit(void) {
  state.commits++;
  __nvm_settle_all();
  return 0;
}

size_t recorder_notes(void) { return state.stores; }
size_t recorder_commits(void) { return state.commits; }
size_t recorder_bytes(void) { return state.loads; }

int recorder_finish(void) {
  recorder_commit();
  printf("recorder: %zu notes, %zu bytes, %zu commits, 0 faults\n", state.stores, state.loads,
         state.commits);
  return 0;
}

void __nvm_commit_point(void) { recorder_commit(); }
void __nvm_split_point(void) { recorder_commit(); }
void __nvm_atomic_enter(void *frame) { (void)frame; }
void __nvm_atomic_leave(void *frame) { (void)frame; }
void __nvm_atomic_landed(void *frame) { (void)frame; }
void __nvm_atomic_thrown(void *frame, void *exception) { (void)frame, (void)exception; }
void __nvm_atomic_passed(void *frame, void *exception) { (void)frame, (void)exception; }
void __nvm_atomic_unwound(void *frame) { (void)frame; }
void __nvm_describe_untraced(const char *begin, const char *end) { (void)begin, (void)end; }
void __nvm_describe_accesses(const char *begin, const char *end) { (void)begin, (void)end; }
void __nvm_describe(const struct nvm_type *const *begin, const struct nvm_type *const *end) {
  (void)begin, (void)end;
}
