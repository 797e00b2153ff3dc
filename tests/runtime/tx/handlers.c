/* handlers.c: a signal handler stores in the middle of a commit, with a power failure at every
 * event.
 */
#include "schedules.h"

#include "heap/heap_types.h"
#include "hooks.h"
#include "log/checkpoint.h"
#include "store.h"

#include <signal.h>
#include <string.h>

static void store_far(int number) {
  (void)number;
  STORE(root->far[500], 5);
}

static unsigned commit_steps;

static void raise_in_first(enum nvmi_step step) {
  if (step == NVMI_STEP_COMMIT && !commit_steps++)
    raise(SIGUSR1);
}

/* A signal handler stores while the data of the interrupted transaction have been flushed: its
 * store is of that transaction. */
static void commit_with_handler(const void *cut, unsigned stores) {
  begin(cut);
  signal(SIGUSR1, store_far);
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 1; i < stores; i++)
    STORE(root->far[8 * i], 5);
  STORE(root->word, 5);
  hook_steps(raise_in_first);
  power_hold(false);
  CHECK(nvm_tx_commit(pool) == 0);
  CHECK(commit_steps && root->far[500] == 5);
  *acknowledged = 5;
  end();
}

static void commit_checked(void *cut) { commit_with_handler(cut, 1); }
static void commit_plain(void *cut) { commit_with_handler(cut, 20); }

static void is_with_handler(const struct root *r) {
  CHECK(r->word == 5 || (r->word == 0 && !*acknowledged));
  CHECK(r->far[500] == r->word);
}

static void verify_handler(const char *path) { verify_with(path, is_with_handler); }

TEST_ONCE(power_failure_handler_in_commit) {
  share_progress();
  power_fail_everywhere("undo", prepare, commit_checked, verify_handler);
  power_fail_everywhere("undo", prepare, commit_plain, verify_handler);
}

/* The same where a new block's bytes went directly to the file, and another thread says meanwhile
 * that the record need not be replayed: all that the handler stored is in place, or nothing. */
enum { BLOCK = 1000, LATE = 40 };

static uint64_t *block;

static void store_both(int number) {
  (void)number;
  STORE(block[LATE], 9);
  STORE(root->far[1], 9);
}

static void *checkpoint_and_tell(void *unused) {
  nvmi_checkpoint(pool);
  return take_log(unused);
}

static void direct_with_handler(void *cut) {
  begin(cut);
  signal(SIGUSR1, store_both);
  CHECK(nvm_tx_begin(pool) == 0 && (block = nvm_alloc(pool, 0, BLOCK)));
  __nvm_note(block, BLOCK);
  memset(block, 0, BLOCK);
  block[LATE] = 5;
  STORE(root->far[0], (uint64_t)(uintptr_t)block);
  STORE(root->far[1], 5);
  STORE(root->blocks, 1);
  commit_steps = 0;
  hook_steps(raise_in_first);
  power_hold(false);
  CHECK(nvm_tx_commit(pool) == 0 && commit_steps);
  *acknowledged = 5;
  in_thread(checkpoint_and_tell);
  in_thread(checkpoint_and_tell);
  end();
}

static void are_both(const struct root *r) {
  const uint64_t *stored = (const uint64_t *)(uintptr_t)r->far[0];
  CHECK(stored ? stored[LATE] == r->far[1] : !*acknowledged);
}

static void verify_both(const char *path) { verify_with(path, are_both); }

TEST_ONCE(power_failure_handler_behind_new_block) {
  share_progress();
  power_fail_everywhere("shadow", prepare, direct_with_handler, verify_both);
}

/* A signal handler stores when the transaction that it interrupts has committed, and is not in
 * place yet: one of its stores to bytes of that, the other not. Neither gets there alone, whatever
 * another thread says of the interrupted record. */
static void store_pair(int number) {
  (void)number;
  STORE(root->far[1], 9);
  STORE(root->far[2], 9);
}

static void raise_in_second(enum nvmi_step step) {
  if (step == NVMI_STEP_COMMIT && ++commit_steps == 2)
    raise(SIGUSR1);
}

static void handler_behind(const void *cut, size_t size) {
  begin(cut);
  signal(SIGUSR1, store_pair);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_alloc(pool, 0, size));
  STORE(root->far[1], 5);
  STORE(root->blocks, 1);
  commit_steps = 0;
  hook_steps(raise_in_second);
  power_hold(false);
  CHECK(nvm_tx_commit(pool) == 0 && commit_steps >= 2);
  hook_steps(NULL);
  *acknowledged = 5;
  in_thread(checkpoint_and_tell);
  in_thread(checkpoint_and_tell);
  end();
}

/* With a large block a commit is the long one. */
static void handler_behind_short(void *cut) { handler_behind(cut, 100); }
static void handler_behind_long(void *cut) { handler_behind(cut, 200000); }

static void is_pair(const struct root *r) {
  CHECK((r->far[1] == 9) == (r->far[2] == 9));
  CHECK(r->far[1] || !*acknowledged);
}

static void verify_pair(const char *path) { verify_with(path, is_pair); }

TEST_ONCE(power_failure_handler_behind_record) {
  share_progress();
  power_fail_everywhere("shadow", prepare, handler_behind_short, verify_pair);
  power_fail_everywhere("shadow", prepare, handler_behind_long, verify_pair);
}
