/* in_order.c: what a thread and its signal handlers do while it has the order's mutex, and what it hands
 * on to others (order/order.c).
 */
#include "handing.h"
#include "hooks.h"
#include "order/commit_wait.h"
#include "order/node.h"
#include "order/order.h"
#include "order/waits.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int posted(void) {
  int value;
  CHECK(sem_getvalue(&all.semaphore, &value) == 0);
  return value;
}

static void *try_in_vain(void *unused) {
  CHECK(!nvmi_order_try_lock() && !nvmi_in_order);
  return unused;
}

/* Who has the mutex by trying posts later, as who has waited for it does; who tried in vain is not in
 * there. */
TEST_ONCE(in_order_is_who_has_the_mutex) {
  prepare();
  CHECK(nvmi_order_try_lock());
  CHECK(sem_post(&all.semaphore) == 0 && posted() == 0);
  CHECK(pthread_join(start(try_in_vain, NULL), NULL) == 0);
  nvmi_order_unlock();
  CHECK(posted() == 1);
  finish();
}

/* A thread that has nothing of a pool, and passes by there, posts at once. */
TEST_ONCE(in_order_without_a_state) {
  CHECK(!nvmi_self && sem_init(&all.semaphore, 0, 0) == 0);
  nvmi_order_lock();
  CHECK(sem_post(&all.semaphore) == 0 && posted() == 1);
  nvmi_order_unlock();
}

/* A lock that is used in there, an allocator's, hands on nothing. */
TEST(in_order_no_lock_is_handed_on) {
  prepare();
  begin();
  STORE(all.words[0], 1);
  nvmi_in_order = true;
  pthread_mutex_lock(&all.lock[0]);
  pthread_mutex_unlock(&all.lock[0]);
  nvmi_in_order = false;
  CHECK(nvmi_order_released == 0 && !nvmi_self->node);
  commit();
  finish();
}

/* Each semaphore twice: the limit is one of semaphores. */
static void post_often(void *times) {
  static sem_t semaphores[NVMI_POSTS_MAX + 1];
  prepare();
  nvmi_order_lock();
  for (unsigned i = 0; i < 2 * *(unsigned *)times; i++)
    CHECK(sem_post(&semaphores[i / 2]) == 0);
  nvmi_order_unlock();
  for (unsigned i = 0; i < *(unsigned *)times; i++) {
    int count;
    CHECK(sem_getvalue(&semaphores[i], &count) == 0 && count == 2);
  }
}

TEST_ONCE(in_order_posts_have_a_limit) {
  unsigned times = NVMI_POSTS_MAX;
  char said[400];
  CHECK(test_child(NULL, post_often, &times) == 0);
  times++;
  unlink(test_path("pool"));
  int status = test_child_says(post_often, &times, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
        strstr(said, "post more than 64 semaphores"));
}

/* The semaphore lies in memory that both share: the parent posts, its child does not. */
TEST(in_order_posts_are_not_a_childs) {
  sem_t *shared =
      mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  int status, count;
  prepare();
  CHECK(shared != MAP_FAILED && sem_init(shared, 1, 0) == 0);
  nvmi_in_order = true;
  CHECK(sem_post(shared) == 0);
  nvmi_in_order = false;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    nvmi_order_post(nvmi_self);
    _exit(nvmi_self->posts_count != 0);
  }
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK(sem_getvalue(shared, &count) == 0 && count == 0);
  nvmi_order_post(nvmi_self);
  CHECK(sem_getvalue(shared, &count) == 0 && count == 1);
  finish();
}

static void *follow_by_post(void *unused) {
  begin();
  while (sem_wait(&all.semaphore))
    ;
  STORE(all.words[GAP], all.words[0]);
  all.step = 1;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return unused;
}

/* What was to be posted later hands on what the thread has open, as any post does. */
TEST(in_order_posts_hand_on) {
  prepare();
  pthread_t other = start(follow_by_post, NULL);
  begin();
  STORE(all.words[0], 1);
  nvmi_order_lock();
  CHECK(sem_post(&all.semaphore) == 0);
  nvmi_order_unlock();
  wait_for(1);
  CHECK(nvm_tx_abort(all.pool) == 0);
  CHECK(pthread_join(other, NULL) == 0 && all.words[GAP] == 0);
  finish();
}

/* A lock is listed once for each transaction that released it, however often. */
TEST(in_order_a_lock_is_listed_once) {
  prepare();
  begin();
  for (unsigned i = 0; i < 4; i++)
    store(i & 1, i, 1);
  CHECK(nvmi_order_released == 2);
  commit();
  CHECK(nvmi_order_released == 0);
  finish();
}

static void *read_and_stay(void *unused) {
  pthread_mutex_lock(&all.lock[0]);
  CHECK(all.words[0] == 1);
  pthread_mutex_unlock(&all.lock[0]);
  pthread_mutex_lock(&all.lock[1]);
  pthread_mutex_unlock(&all.lock[1]);
  all.step = 1;
  wait_for(3);
  return unused;
}

static void *follow_the_reader(void *unused) {
  wait_for(1);
  begin();
  store(1, GAP, 1);
  all.step = 2;
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
  return unused;
}

/* Who has read what is not committed, and stores it nowhere, may tell it: whoever takes over its next
 * lock depends on that, too. */
TEST(in_order_a_reader_hands_on_what_it_read) {
  prepare();
  begin();
  store(0, 0, 1);
  pthread_t reader = start(read_and_stay, NULL), other = start(follow_the_reader, NULL);
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  all.step = 3;
  CHECK(pthread_join(reader, NULL) == 0 && pthread_join(other, NULL) == 0 && !all.words[GAP]);
  finish();
}

static struct nvmi_node *late, *followed;
static _Atomic bool taken;

static void *store_and_post(void *unused) {
  begin();
  STORE(all.words[0], 1);
  CHECK(sem_post(&all.semaphore) == 0);
  late = nvmi_self->node;
  all.step = 1;
  wait_for(4);
  commit();
  return unused;
}

static void *follow_what_commits(void *unused) {
  wait_for(2);
  begin();
  store(1, 2 * GAP, 1);
  followed = nvmi_self->node;
  all.step = 3;
  wait_for(4);
  commit();
  return unused;
}

/* As a signal handler that comes behind the commit's wait. */
static void take_in_commit(enum nvmi_step step) {
  if (step == NVMI_STEP_COMMIT && all.step == 3 && !taken) {
    taken = true;
    CHECK(sem_trywait(&all.semaphore) == 0);
  }
}

/* What came to a thread while it committed is its next transaction's: who followed the one that is
 * committed has nothing to do with it. */
TEST(in_order_a_committed_one_leads_nowhere) {
  prepare();
  pthread_t poster = start(store_and_post, NULL), follower = start(follow_what_commits, NULL);
  wait_for(1);
  begin();
  store(1, GAP, 1);
  all.step = 2;
  wait_for(3);
  hook_steps(take_in_commit);
  commit();
  hook_steps(NULL);
  CHECK(taken && nvmi_self->node);
  nvmi_order_lock();
  bool leads = nvmi_node_follows(followed, late), next = nvmi_node_follows(nvmi_self->node, late);
  nvmi_order_unlock();
  CHECK(!leads && next);
  all.step = 4;
  CHECK(pthread_join(poster, NULL) == 0 && pthread_join(follower, NULL) == 0);
  finish();
}

static void *release_and_stay(void *unused) {
  begin();
  store(0, 0, 1);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  all.step = 3;
  return unused;
}

/* Who has been told that it cannot commit is undone soon: whoever reads its bytes waits for that. */
TEST(in_order_who_is_told_breaks_soon) {
  prepare();
  pthread_t other = start(release_and_stay, NULL);
  wait_for(1);
  begin();
  store(0, GAP, 1);
  all.step = 2;
  wait_for(3);
  CHECK(nvmi_commit_wait(nvmi_self) == NVMI_WAITED_BROKEN);
  nvmi_order_lock();
  bool breaks = nvmi_breaks_soon(nvmi_self->node);
  nvmi_order_unlock();
  CHECK(breaks && nvm_tx_abort(all.pool) == 0);
  CHECK(pthread_join(other, NULL) == 0);
  finish();
}

static struct nvmi_node *broken;
static pthread_t waits;
static unsigned yields;

static void heal(void) {
  if (!pthread_equal(pthread_self(), waits))
    return;
  yields++;
  nvmi_order_lock();
  broken->state = OPEN;
  nvmi_order_unlock();
}

/* Until what it depends on is undone a thread pauses, and lets that go on. */
TEST(in_order_pauses_behind_what_breaks) {
  prepare();
  pthread_t other = start(release_and_stay, NULL);
  wait_for(1);
  pthread_mutex_lock(&all.lock[0]);
  alarm(5);
  nvmi_order_lock();
  broken = nvmi_node_deps(nvmi_self->node)[0];
  broken->state = ABORTING;
  nvmi_order_unlock();
  waits = pthread_self();
  hook_yield = heal;
  nvmi_order_ended(nvmi_self, true);
  hook_yield = NULL;
  CHECK(yields == 1);
  pthread_mutex_unlock(&all.lock[0]);
  all.step = 2;
  CHECK(pthread_join(other, NULL) == 0);
  finish();
}
