/* nodes.c: nodes (order/node.h) and the searches through them (order/waits.h), made by hand. */
#include "handing.h"
#include "hooks.h"
#include "order/node.h"
#include "order/order.h"
#include "order/waits.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { SLAB = 64, ROUNDS = 20 };

/* In the same slab: slabs lie further apart. */
static bool lies_by(const struct nvmi_node *a, const struct nvmi_node *b) {
  return labs((long)((intptr_t)a - (intptr_t)b)) < (long)(SLAB * sizeof *a);
}

/* One that nobody refers to is the next to be used, and a slab is used up before the next. */
TEST_ONCE(nodes_are_used_again) {
  struct nvmi_node *all_of_slab[SLAB];
  nvmi_order_lock();
  for (unsigned i = 0; i < SLAB; i++)
    all_of_slab[i] = nvmi_node_new(NULL);
  for (unsigned i = 1; i < SLAB; i++)
    CHECK(lies_by(all_of_slab[i], all_of_slab[0]));
  nvmi_node_drop(all_of_slab[3]);
  CHECK(nvmi_node_new(NULL) == all_of_slab[3]);
  nvmi_node_drop(all_of_slab[5]);
  nvmi_node_drop(all_of_slab[7]);
  CHECK(nvmi_node_new(NULL) == all_of_slab[7] && nvmi_node_new(NULL) == all_of_slab[5]);
  nvmi_nodes_forget();
  for (unsigned i = 0; i < SLAB; i++)
    CHECK(lies_by(nvmi_node_new(NULL), all_of_slab[0]));
  nvmi_nodes_forget();
  nvmi_order_unlock();
}

/* What its last transaction was told says nothing of the next. */
TEST_ONCE(nodes_are_new_when_used_again) {
  nvmi_order_lock();
  struct nvmi_node *node = nvmi_node_new(NULL);
  node->waiting = node->has_joined = node->unsafe = true;
  node->judged = 7;
  nvmi_node_drop(node);
  CHECK(nvmi_node_new(NULL) == node);
  CHECK(!node->waiting && !node->has_joined && !node->unsafe && node->judged == 0);
  nvmi_nodes_forget();
  nvmi_order_unlock();
}

/* What has ended is not depended on: a transaction that goes on for long keeps no list of it. */
TEST_ONCE(nodes_keep_no_list_of_what_has_ended) {
  nvmi_order_lock();
  struct nvmi_node *long_one = nvmi_node_new(NULL);
  for (unsigned i = 0; i < ROUNDS; i++) {
    struct nvmi_node *on = nvmi_node_new(NULL);
    nvmi_node_depend(long_one, on);
    nvmi_node_depend(long_one, on);
    CHECK(long_one->deps.count == 1);
    on->state = COMMITTED;
    nvmi_node_drop(on);
  }
  nvmi_nodes_forget();
  nvmi_order_unlock();
}

/* A chain of three, each of a thread that has written and waits for the one before. */
static struct nvmi_node *chain[3];
static struct nvmi_thread writers[3];

static void make_chain(void) {
  nvmi_order_lock();
  for (unsigned i = 0; i < 3; i++) {
    writers[i].touched = 1;
    chain[i] = nvmi_node_new(&writers[i]);
    chain[i]->waiting = i > 0;
    if (i)
      nvmi_node_depend(chain[i], chain[i - 1]);
  }
}

static void drop_chain(void) {
  nvmi_nodes_forget();
  nvmi_order_unlock();
}

TEST_ONCE(nodes_follow_over_others) {
  make_chain();
  CHECK(nvmi_node_follows(chain[2], chain[1]) && nvmi_node_follows(chain[2], chain[0]));
  CHECK(!nvmi_node_follows(chain[0], chain[2]));
  CHECK(nvmi_waited_for(chain[2]) == &writers[0]);
  chain[1]->waiting = false;
  CHECK(nvmi_waited_for(chain[2]) == &writers[1]);
  drop_chain();
}

/* Of several that one depends on each is looked at. */
TEST_ONCE(nodes_follow_over_each) {
  make_chain();
  struct nvmi_node *aside = nvmi_node_new(NULL), *last = nvmi_node_new(NULL);
  nvmi_node_depend(last, chain[2]);
  nvmi_node_depend(last, aside);
  CHECK(nvmi_node_follows(last, chain[0]) && nvmi_node_follows(last, aside));
  drop_chain();
}

TEST_ONCE(nodes_break_over_others) {
  make_chain();
  CHECK(!nvmi_breaks_soon(chain[2]));
  chain[0]->state = ABORTED;
  CHECK(nvmi_breaks_soon(chain[1]) && nvmi_breaks_soon(chain[2]));
  writers[1].touched = 0; /* a reader loses nothing */
  CHECK(!nvmi_breaks_soon(chain[2]));
  drop_chain();
}

static bool count(struct nvmi_node *node, void *number) {
  (void)node;
  ++*(unsigned *)number;
  return false;
}

/* A child of fork has none of its parent's. */
TEST(nodes_are_not_a_childs) {
  unsigned before = 0, in_child = 0;
  prepare();
  begin();
  store(0, 0, 1);
  nvmi_node_find(count, &before);
  pid_t child = fork();
  CHECK(child >= 0);
  if (!child) {
    nvmi_node_find(count, &in_child);
    nvmi_order_lock();
    nvmi_order_unlock(); /* what holds of the lists is looked at */
    _exit(in_child || nvmi_self->node || nvmi_order_released);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0 && before == 1);
  commit();
  finish();
}

enum { OUT_OF_MEMORY = 9 };

static void stop(enum nvm_error code, const char *message) {
  _exit(code == NVM_ENOMEMORY && *message ? OUT_OF_MEMORY : 1);
}

static void push(void *unused) {
  struct nvmi_array list = {0};
  (void)unused;
  nvm_set_fatal_handler(stop);
  fault_no_memory = true;
  nvmi_order_push(&list, &list, sizeof list);
}

static void make(void *unused) {
  (void)unused;
  nvmi_order_lock();
  for (unsigned i = 0; i < SLAB; i++)
    nvmi_node_new(NULL);
  fault_no_memory = true;
  nvmi_node_new(NULL);
}

/* Without memory for the order nothing is ordered: the process ends, and says so. */
TEST_ONCE(nodes_need_memory) {
  char said[400];
  CHECK(test_child(NULL, push, NULL) == OUT_OF_MEMORY << 8);
  int status = test_child_says(make, NULL, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
        strstr(said, "out of memory for the order of transactions"));
}
