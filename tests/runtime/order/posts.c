/* posts.c: signal handlers post semaphores while their thread is at work, and behind that (order/order.c). */
#include "blocked.h"
#include "core/thread.h"
#include "handing.h"
#include "hooks.h"
#include "order/order.h"

static int posted(void) {
  int count;
  CHECK(sem_getvalue(&all.semaphore, &count) == 0);
  return count;
}

static unsigned steps, blocked; /* signals, behind the handler's post */

static void post(int number) {
  (void)number;
  CHECK(sem_post(&all.semaphore) == 0);
  blocked = count_blocked();
}

/* Whoever is at work posts nothing, whatever ends in it: others would not be let on by what it does. */
static void post_once(enum nvmi_step step) {
  if (step != NVMI_STEP_COMMIT || steps++)
    return;
  CHECK(nvmi_self->busy && raise(SIGUSR1) == 0);
  CHECK(nvmi_self->posts_count == 1 && posted() == 0);
  nvmi_order_post(nvmi_self);
  CHECK(nvmi_self->posts_count == 1 && posted() == 0);
}

static void commit_and_post(void) {
  steps = blocked = 0;
  hook_steps(post_once);
  commit();
  hook_steps(NULL);
  CHECK(steps && !nvmi_self->posts_count && posted() == 1 && sem_wait(&all.semaphore) == 0);
  CHECK(blocked == 1 && count_blocked() == 0); /* the handler's own */
}

TEST(posted_when_the_work_is_done) {
  prepare();
  signal(SIGUSR1, post);
  begin();
  STORE(all.words[0], 1);
  commit_and_post();
  begin();
  store(0, 0, 2);
  commit_and_post();
  finish();
}

/* In a transaction a post hands on, outside it ends what is open; signals wait only meanwhile. */
static void *release_and_commit(void *unused) {
  begin();
  store(0, 0, 1);
  all.step = 1;
  wait_for(2);
  usleep(LONGER_US / 4);
  commit();
  return unused;
}

static pthread_t poster;
static unsigned masked, in_commit;

static void look_at_signals(enum nvmi_step step) {
  if (step != NVMI_STEP_COMMIT || !pthread_equal(pthread_self(), poster))
    return;
  in_commit++;
  masked += count_blocked() == SIGNALS;
}

TEST(posted_before_a_commit_that_waits) {
  prepare();
  poster = pthread_self();
  pthread_t other = start(release_and_commit, NULL);
  wait_for(1);
  pthread_mutex_lock(&all.lock[0]);
  pthread_mutex_unlock(&all.lock[0]);
  STORE(all.words[GAP], 1);
  hook_steps(look_at_signals);
  all.step = 2;
  CHECK(sem_post(&all.semaphore) == 0);
  hook_steps(NULL);
  CHECK(!nvmi_self->touched && in_commit && masked == in_commit && count_blocked() == 0);
  CHECK(pthread_join(other, NULL) == 0 && !nvmi_self->awaits);
  reopen();
  CHECK(all.words[0] == 1 && all.words[GAP] == 1);
  finish();
}
