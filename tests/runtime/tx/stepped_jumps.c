/* stepped_jumps.c: a signal handler jumps out of a store at each instruction, one after another (stepping.h). What
 * the transaction has noted stays whole.
 */
#include "core/captured.h"
#include "core/lines.h"
#include "core/log_state.h"
#include "core/map.h"
#include "core/thread.h"
#include "harness.h"
#include "heap/heap_locate.h"
#include "stepping.h"
#include "store.h"
#include "type_tables.h"

#include <setjmp.h>
#include <string.h>

enum {
  SIZE = 1 << 17,
  APART = NVM_LINE_SLOTS * NVM_LINE_SIZE / sizeof(uint64_t) /* one slot of the table */
};

static NVM_POOL *pool;
static uint64_t *words;
static sigjmp_buf landing;

static void jump(int number) {
  (void)number;
  siglongjmp(landing, 1);
}

static const char bytes[2 * NVM_LINE_SIZE] = {1};

/* One line or two, which take the same slots as those that are APART. */
static void store(size_t at, bool two) {
  if (two)
    store_bytes(words + at, bytes, sizeof bytes);
  else
    STORE(words[at], 1);
}

/* What lies in the list behind its end is no line of the pool. */
static void begin(bool two) {
  CHECK(nvm_tx_begin(pool) == 0);
  store(0, two);
  struct nvmi_array *lines = &nvmi_self->lines;
  memset((struct nvmi_line *)lines->items + lines->count, 0xff,
         (lines->room - lines->count) * sizeof(struct nvmi_line));
}

static void check_lines(void) {
  const struct nvmi_line *lines = nvmi_self->lines.items;
  for (size_t i = 0; i < nvmi_self->lines.count; i++)
    CHECK(nvmi_pool_at((void *)(nvmi_line_first(&lines[i]) << 6)) == pool);
}

/* The second store takes the slots of the first one. */
static void repeat_jumps(bool two) {
  pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0 && (words = nvm_calloc(pool, 0, 1, SIZE)));
  CHECK(nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  begin(two);
  store(APART, two);
  CHECK(nvm_tx_commit(pool) == 0);
  signal(SIGUSR1, jump);
  for (unsigned round = 0;; round++) { /* the first one finds functions of libraries */
    begin(two);
    if (round)
      stop();
    if (!sigsetjmp(landing, 1))
      store(APART, two);
    if (round)
      stop();
    __nvm_atomic_landed(__builtin_frame_address(0));
    check_lines();
    CHECK(nvm_tx_commit(pool) == 0 && !nvmi_self->touched);
  }
}

static void repeat_one(void) { repeat_jumps(false); }
static void repeat_two(void) { repeat_jumps(true); }

enum { HELD_ID = 7711, HELD = 3 };
struct held {
  uint64_t number;
  char state[24]; /* volatile */
  uint64_t more[8];
};
static const struct nvm_field held_fields[] = {{.name = "state",
                                                .offset = offsetof(struct held, state),
                                                .count = 24,
                                                .stride = 1,
                                                .kind = NVM_FIELD_VOLATILE}};
static const struct nvm_type held_type = TEST_TYPE(HELD_ID, held, held_fields);
TEST_TYPES(described, &held_type);

/* What a note covers is kept in a list, which is made anew each time; an abort gives it back. No jump out
 * of the note leaves the heap's lock. */
static void repeat_covered(void) {
  static const struct held ones = {1, "no", {1}};
  pool = test_create(test_path("pool"), 1 << 20);
  struct held *held;
  CHECK(nvm_tx_begin(pool) == 0 && (held = nvm_calloc(pool, HELD_ID, HELD, sizeof *held)));
  CHECK(nvm_pool_set_root(pool, held) == 0 && nvm_tx_commit(pool) == 0);
  signal(SIGUSR1, jump);
  for (unsigned round = 0;; round++) {
    strcpy(held[1].state, "yes");
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(held[0].number, 1);
    nvmi_array_free(&nvmi_self->logs[pool->index]->covered, sizeof(struct nvmi_captured));
    struct nvmi_location at; /* its span's table is read anew, under the heap's lock */
    uint64_t place = nvmi_offset(pool, held) - pool->header.heap_offset;
    CHECK(nvmi_block_locate(pool->heap, place, &at));
    pool->heap->chunk[place >> NVM_CHUNK_SHIFT].span = NULL;
    if (round)
      stop();
    if (!sigsetjmp(landing, 1))
      store_bytes(&held[1], &ones, sizeof ones);
    if (round)
      stop();
    __nvm_atomic_landed(__builtin_frame_address(0));
    CHECK(nvm_tx_abort(pool) == 0 && !nvmi_self->touched);
    CHECK(!held[0].number && !held[1].number && strcmp(held[1].state, "yes") == 0);
    void *block = malloc(100); /* nobody has left a lock of these */
    CHECK(block && nvm_tx_begin(pool) == 0 && nvm_alloc(pool, 0, 48) && nvm_tx_abort(pool) == 0);
    free(block);
  }
}

/* A jump within the handler leaves nothing: the store and the atomic call around it go on. */
static void jump_within(int number) {
  sigjmp_buf own;
  (void)number;
  if (!sigsetjmp(own, 1))
    siglongjmp(own, 1);
}

static void repeat_within(void) {
  pool = test_create(test_path("pool"), 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0 && (words = nvm_calloc(pool, 0, 1, SIZE)));
  CHECK(nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  signal(SIGUSR1, jump_within);
  for (unsigned round = 0;; round++) {
    void *frame = __builtin_frame_address(0);
    __nvm_atomic_enter(frame);
    STORE(words[0], round);
    if (round)
      stop();
    STORE(words[APART], round);
    if (round)
      stop();
    else
      raise(SIGUSR1);
    CHECK(nvmi_self->frames.count == 1 && nvmi_self->touched && !nvmi_self->jumped_to);
    __nvm_atomic_leave(frame);
    CHECK(!nvmi_self->frames.count && !nvmi_self->touched);
  }
}

static void step_all(void (*repeat)(void)) {
  if (test_is_delayed())
    test_skip("the thread that syncs is not traced, and would meet the breakpoints");
  CHECK(step_through(repeat, test_is_long() ? 3 : 1, 1, test_seed()) > 50);
}

TEST(stepped_jumps_out_of_a_line) { step_all(repeat_one); }
TEST(stepped_jumps_out_of_two_lines) { step_all(repeat_two); }
TEST(stepped_jumps_within_a_handler) { step_all(repeat_within); }
TEST(stepped_jumps_out_of_a_covering_note) { step_all(repeat_covered); }
