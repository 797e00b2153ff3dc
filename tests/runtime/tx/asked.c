/* asked.c: another process asks for a moment in which nobody writes (tx/quiesce.h); here a thread of this
 * one asks, as if it were another.
 */
#define _GNU_SOURCE
#include "handing.h"
#include "log/log.h"
#include "order/node.h"
#include "order/order.h"
#include "tx/quiesce.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

enum { NUMBER = 4711, TRIES = 50, LOOK_US = 2000, PATIENCE_S = 5 };

static struct nvm_backup_words *words;

static long wake(uint64_t *word) { return syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0); }

static void prepare_to_ask(void) {
  prepare();
  begin();
  STORE(all.words[0], 1);
  commit();
  words = nvmi_backup_words(all.pool);
}

/* Nobody lives who asks: the question is taken back, but not where something is open. */
TEST(asked_between_transactions) {
  prepare_to_ask();
  uint64_t pools = UINT64_C(1) << all.pool->index;
  begin();
  words->asked = NUMBER;
  nvmi_backup_answer(nvmi_self, pools);
  CHECK(words->asked == NUMBER);
  CHECK(nvm_tx_abort(all.pool) == 0);
  nvmi_self->busy++;
  nvmi_backup_answer(nvmi_self, pools);
  nvmi_self->busy--;
  CHECK(words->asked == NUMBER);
  nvmi_backup_answer(nvmi_self, pools);
  CHECK(words->asked == 0 && words->answered == 0);
  finish();
}

struct asked {
  bool was_woken, slept;
};

/* Waits for the answer, then looks whether who answers sleeps, and lets it go on. */
static void *ask(void *argument) {
  struct asked *asked = argument;
  struct timespec patience = {PATIENCE_S, 0};
  struct flock byte = {
      .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = NVM_BACKUP_BYTE, .l_len = 1};
  int fd = open(test_path("pool"), O_RDWR);
  CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLK, &byte) == 0);
  words->asked = NUMBER;
  all.step = 1;
  long waited = syscall(SYS_futex, &words->answered, FUTEX_WAIT, 0, &patience, NULL, 0);
  asked->was_woken = waited == 0 && words->answered == NUMBER;
  for (unsigned i = 0; i < TRIES && !asked->slept; i++) {
    usleep(LOOK_US);
    asked->slept = wake(&words->asked) == 1;
  }
  __atomic_store_n(&words->asked, 0, __ATOMIC_RELEASE);
  wake(&words->asked);
  CHECK(close(fd) == 0);
  return NULL;
}

/* Who answers wakes who asks, sleeps until that is done, and takes the answer back. */
TEST(asked_and_answered) {
  struct asked asked = {0};
  prepare_to_ask();
  pthread_t other = start(ask, &asked);
  wait_for(1);
  usleep(LONGER_US); /* it waits by now */
  begin();
  STORE(all.words[0], 2);
  commit();
  CHECK(pthread_join(other, NULL) == 0);
  CHECK(asked.was_woken && asked.slept && words->asked == 0 && words->answered == 0);
  finish();
}

/* What a thread had open is its parent's: it ends in a child as often as it was begun, and nothing of
 * it is told there. */
TEST(inherited_transactions_end_in_a_child) {
  prepare();
  begin();
  begin();
  STORE(all.words[0], 1);
  nvmi_self->has_lost = nvmi_self->doomed = nvmi_self->fresh_stores = true;
  void *frame = __builtin_frame_address(0); /* of an atomic call */
  CHECK(nvmi_array_push(&nvmi_self->frames, &frame, sizeof frame));
  nvmi_self->fresh_count = nvmi_self->ahead_count = 1;
  nvmi_self->table->ahead = 1;
  const struct nvmi_log *log = nvmi_self->logs[all.pool->index];
  uint64_t implicit = log->stats.implicit_commits;
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    CHECK(!nvmi_self->has_lost && !nvmi_self->doomed && !nvmi_self->fresh_stores);
    CHECK(!nvmi_self->frames.count && !nvmi_self->touched && !nvmi_self->fresh_count);
    CHECK(!nvmi_self->ahead_count && !nvmi_self->table->ahead);
    CHECK(log->stats.implicit_commits == implicit); /* nor where a lock is released meanwhile */
    CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_ECHILD);
    CHECK(nvm_tx_abort(all.pool) == 0);
    CHECK_FAILS(nvm_tx_abort(all.pool) == 0, NVM_ENOTX);
    _exit(0);
  }
  nvmi_self->has_lost = nvmi_self->doomed = nvmi_self->fresh_stores = false;
  nvmi_self->frames.count = nvmi_self->fresh_count = nvmi_self->ahead_count = 0;
  nvmi_self->table->ahead = 0;
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  commit();
  commit();
  finish();
}
