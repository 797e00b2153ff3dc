/* readers.c: threads outside transactions that follow another's open transaction: what they have read,
 * what they wait for, and what they leave behind.
 */
#include "followers.h"
#include "pointer.h"

static void *write_and_abort(void *unused) {
  begin();
  store_and_release(1);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return unused;
}

/* What a thread makes of bytes that were taken back is taken back, too; what it stores when it has
 * released a lock since, and holds none, is its own. */
TEST(reader_goes_on_after_an_abort) {
  for (unsigned again = 0; again < 2; again++) {
    prepare();
    pthread_t writer = start(write_and_abort, NULL);
    wait_for(1);
    read_under(&all.lock);
    all.step = 2;
    join(writer);
    if (again)
      read_under(&all.lock);
    STORE(all.words[FAR], 7);
    if (again)
      begin();
    else
      CHECK_FAILS(nvm_tx_begin(all.pool) == 0, NVM_EBROKEN);
    CHECK(all.words[FAR] == (again ? 7 : 0));
    if (again)
      commit();
    CHECK(nvm_pool_close(all.pool) == 0 && unlink(test_path("pool")) == 0);
  }
}

static void *read_and_end(void *unused) {
  read_under(&all.lock);
  all.step++;
  while (all.step % 2)
    sched_yield();
  return unused;
}

static void *abort_an_allocation(uint64_t round, void *(*read)(void *), pthread_t *reader) {
  begin();
  pthread_mutex_lock(&all.lock);
  STORE(all.words[0], round);
  void *block = nvm_alloc(all.pool, 0, BLOCK);
  pthread_mutex_unlock(&all.lock);
  *reader = start(read, NULL);
  while (all.step % 2 == 0)
    sched_yield();
  CHECK(block && nvm_tx_abort(all.pool) == 0);
  return block;
}

/* The blocks that an abort gives back are there again when all who knew of them have ended. */
TEST(reader_ends_and_its_blocks_are_free) {
  prepare();
  void *first = NULL;
  for (unsigned round = 0; round < ROUNDS; round++) {
    pthread_t reader;
    void *block = abort_an_allocation(round, read_and_end, &reader);
    CHECK(block == first || !first);
    first = block;
    all.step++;
    join(reader);
  }
  CHECK(nvm_pool_close(all.pool) == 0);
  test_check_pool(test_path("pool"));
}

static void *read_and_write_later(void *unused) {
  read_under(&all.lock);
  all.step++;
  wait_for(2);
  begin();
  STORE(all.words[FAR], 5);
  commit();
  return unused;
}

/* They are nobody's when the pool is closed, whoever still knows of them. */
TEST(closed_while_a_reader_knows_of_blocks) {
  prepare();
  pthread_t reader;
  abort_an_allocation(1, read_and_write_later, &reader);
  CHECK(nvm_pool_close(all.pool) == 0);
  all.pool = test_open(test_path("pool"));
  all.words = nvm_pool_root(all.pool);
  all.step = 2;
  join(reader);
  CHECK(all.words[FAR] == 5 && nvm_pool_close(all.pool) == 0);
  test_check_pool(test_path("pool"));
}

static void *store_and_wait(void *unused) {
  wait_for(1);
  pthread_mutex_lock(&all.lock);
  STORE(all.words[FAR], 1);
  all.step = 2;
  while (all.step < 3)
    pthread_cond_wait(&all.condition, &all.lock);
  pthread_mutex_unlock(&all.lock);
  return unused;
}

/* Who waits for a condition waits without its mutex, whatever it depends on. */
TEST(waits_for_a_condition_without_the_mutex) {
  prepare();
  pthread_t waiter = start(store_and_wait, NULL);
  begin();
  store_and_release(1);
  all.step = 1;
  wait_for(2);
  store_and_release(2);
  commit();
  pthread_mutex_lock(&all.lock);
  all.step = 3;
  pthread_cond_signal(&all.condition);
  pthread_mutex_unlock(&all.lock);
  join(waiter);
  CHECK(nvm_pool_close(all.pool) == 0);
}

static void take(void) {
  while (sem_wait(&all.semaphore))
    ;
}

static void *store_and_post(void *unused) {
  wait_for(1);
  take();
  STORE(all.words[FAR], 1);
  all.step = 2;
  sem_post(&all.semaphore);
  all.step = 3;
  wait_for(4);
  return unused;
}

/* Nobody waits for a thread that idles behind its post. */
TEST(idles_behind_a_post) {
  prepare();
  pthread_t idle = start(store_and_post, NULL);
  begin();
  take();
  STORE(all.words[0], 1);
  sem_post(&all.semaphore);
  all.step = 1;
  wait_for(2);
  usleep(MOMENT);
  commit();
  wait_for(3);
  begin();
  take();
  STORE(all.words[OTHER], all.words[FAR] + 1);
  sem_post(&all.semaphore);
  commit();
  all.step = 4;
  join(idle);
  CHECK(nvm_pool_close(all.pool) == 0);
}

static void *never_ends(void *unused) {
  begin();
  store_and_release(1);
  all.step = 1;
  for (;;)
    pause();
  return unused;
}

static void *commits_in_a_cycle(void *unused) {
  wait_for(1);
  begin();
  store_and_release(2);
  pthread_mutex_lock(&all.other);
  STORE(all.words[OTHER], 1);
  pthread_mutex_unlock(&all.other);
  all.step = 2;
  wait_for(3);
  take();
  STORE(all.words[FAR], 2);
  sem_post(&all.semaphore);
  all.step = 4;
  (void)nvm_tx_commit(all.pool);
  for (;;) /* one that ends just then has memory of the C library's that LeakSanitizer cannot see */
    pause();
  return unused;
}

static void exit_in_a_cycle(void *unused) {
  (void)unused;
  prepare();
  __nvm_commit_point(); /* so no release ends what is outside transactions */
  CHECK(pthread_detach(start(never_ends, NULL)) == 0);
  CHECK(pthread_detach(start(commits_in_a_cycle, NULL)) == 0);
  wait_for(2);
  pthread_mutex_lock(&all.other);
  STORE(all.words[OTHER], 2);
  pthread_mutex_unlock(&all.other);
  take();
  STORE(all.words[FAR], 1);
  sem_post(&all.semaphore);
  all.step = 3;
  wait_for(4);
  usleep(MOMENT);
  exit(3);
}

/* The end of a process waits for nobody for ever, whatever its last commit could become a part of. */
TEST(exit_waits_for_no_cycle) { CHECK(test_child(NULL, exit_in_a_cycle, NULL) == 3 << 8); }

static struct pointer dram, *unsafe;

static struct pointer *make_pointer(void) {
  begin();
  struct pointer *pointer = nvm_calloc(all.pool, POINTER_ID, 1, sizeof *pointer);
  STORE(all.words[1], (uint64_t)(uintptr_t)pointer);
  commit();
  return pointer;
}

static void *wait_with_an_unsafe_pointer(void *unused) {
  unsigned woken = 0;
  pthread_mutex_lock(&all.other);
  wait_for(1);
  pthread_mutex_lock(&all.lock);
  STORE(unsafe->to, &dram);
  all.step = 2;
  for (; all.step < 3; woken++)
    pthread_cond_wait(&all.condition, &all.lock);
  STORE(unsafe->to, NULL);
  pthread_mutex_unlock(&all.lock);
  pthread_mutex_unlock(&all.other);
  CHECK(woken <= 3);
  return unused;
}

/* Who could end nothing in place of its wait waits. */
TEST(waits_for_a_condition_with_what_stays_open) {
  describe_pointer();
  prepare();
  unsafe = make_pointer();
  pthread_t waiter = start(wait_with_an_unsafe_pointer, NULL);
  begin();
  store_and_release(1);
  all.step = 1;
  wait_for(2);
  usleep(MOMENT);
  pthread_mutex_lock(&all.lock);
  all.step = 3;
  pthread_cond_signal(&all.condition);
  pthread_mutex_unlock(&all.lock);
  commit();
  join(waiter);
  CHECK(nvm_pool_close(all.pool) == 0);
}

/* What was undone at a release is told by the close, too. */
TEST(close_tells_of_what_was_undone) {
  describe_pointer();
  prepare();
  struct pointer *pointer = make_pointer();
  pthread_mutex_lock(&all.lock);
  STORE(pointer->to, &dram);
  pthread_mutex_unlock(&all.lock);
  CHECK_FAILS(nvm_pool_close(all.pool) == 0, NVM_EBROKEN);
  CHECK(!pointer->to && nvm_pool_close(all.pool) == 0);
}
