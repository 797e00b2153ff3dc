/* checked.c: a commit whose record a power failure leaves without its data is undone, as its checksum
 * says (undo.c). No byte of it changes behind the commit without a trace of that on the media.
 */
#include "hooks.h"
#include "schedules.h"
#include "store.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

enum { RECORD_ID = 7442, STEPS = 4 };

/* Of one cache line, so stored with one note. */
struct record {
  union {
    uint64_t first;
    pthread_mutex_t lock;
    pthread_cond_t condition;
  };
  uint64_t second, third;
};

static struct record *record;

static void open_record(const void *cut, uint64_t type) {
  begin(cut);
  CHECK(nvm_tx_begin(pool) == 0);
  record = nvm_calloc(pool, type, 1, sizeof *record);
  CHECK(record);
  STORE(root->far[0], (uint64_t)(uintptr_t)record);
  STORE(root->blocks, 1);
  CHECK(nvm_tx_commit(pool) == 0);
}

static void commit_record(void) {
  struct record fresh = {.second = 1, .third = 1};
  CHECK(nvm_tx_begin(pool) == 0);
  store_bytes(record, &fresh, sizeof fresh);
  CHECK(nvm_tx_commit(pool) == 0);
  *acknowledged = 1;
}

/* So that the power may fail behind what was done so far. */
static void go_on(void) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(root->far[500], 7);
  CHECK(nvm_tx_commit(pool) == 0);
  end();
}

static void is_there(const struct root *r) {
  const struct record *found = (const struct record *)(uintptr_t)r->far[0];
  CHECK(found ? !*acknowledged || found->third == 1 : !*acknowledged);
}

static void verify_record(const char *path) { verify_with(path, is_there); }

static unsigned steps, raised_at;

static void store_second(int number) {
  (void)number;
  STORE(record->second, 77);
}

static void raise_once(enum nvmi_step step) {
  if (step == NVMI_STEP_COMMIT && ++steps == raised_at)
    raise(SIGUSR1);
}

static void commit_with_handler(void *cut) {
  open_record(cut, 0);
  signal(SIGUSR1, store_second);
  steps = 0;
  hook_steps(raise_once);
  power_hold(false);
  commit_record();
  hook_steps(NULL);
  go_on();
}

/* The first store of a signal's handler changes what the record sums up, at each step of the
 * commit. */
TEST_ONCE(power_failure_handler_in_a_checked_commit) {
  share_progress();
  for (raised_at = 1; raised_at <= STEPS; raised_at++)
    power_fail_everywhere("undo", prepare, commit_with_handler, verify_record);
}

static void describe_volatile(void) {
  static const struct nvm_field fields[] = {{.name = "second",
                                             .offset = offsetof(struct record, second),
                                             .count = sizeof(uint64_t),
                                             .stride = 1,
                                             .kind = NVM_FIELD_VOLATILE}};
  static const struct nvm_type type = {.id = RECORD_ID,
                                       .name = "struct checked",
                                       .members = "",
                                       .size = sizeof(struct record),
                                       .alignment = 8,
                                       .field_count = 1,
                                       .fields = fields};
  const struct nvm_type *types[] = {&type};
  __nvm_describe(types, types + 1);
}

static void commit_volatile(void *cut) {
  describe_volatile();
  open_record(cut, RECORD_ID);
  power_hold(false);
  commit_record();
  record->second = 99; /* nobody notes it */
  go_on();
}

/* A member that the program marks as one that nobody notes. */
TEST_ONCE(power_failure_volatile_in_a_checked_commit) {
  share_progress();
  power_fail_everywhere("undo", prepare, commit_volatile, verify_record);
}

static void commit_lock(void *cut) {
  open_record(cut, 0);
  power_hold(false);
  commit_record();
  pthread_mutex_lock(&record->lock); /* nor what changes here */
  go_on();
}

static void commit_condition(void *cut) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  struct timespec past = {0, 0};
  open_record(cut, 0);
  power_hold(false);
  commit_record();
  pthread_mutex_lock(&mutex);
  pthread_cond_timedwait(&record->condition, &mutex, &past);
  pthread_mutex_unlock(&mutex);
  go_on();
}

TEST_ONCE(power_failure_lock_in_a_checked_commit) {
  share_progress();
  power_fail_everywhere("undo", prepare, commit_lock, verify_record);
  power_fail_everywhere("undo", prepare, commit_condition, verify_record);
}
