/* ports.c: the start of a ported program (runtime/port/port.h): what its roots are before the load,
 * which path it is told, where it forks. Each start is a process of its own.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "store.h"
#include "type_tables.h"

#include "nvmove/inspect.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SERVER = 6001, ITEM = 6003, LINK = 6005 };

struct item {
  struct item *next;
  uint64_t number, seen; /* seen: volatile */
};
static struct server {
  void *log;                /* volatile */
  uint64_t count, clock[2]; /* clock: volatile */
  struct item *first;
} server;
static struct item *newest;

static const struct nvm_field item_fields[] = {
    TEST_FIELD(item, next, NVM_FIELD_POINTER, .target = ITEM), TEST_VOLATILE(item, seen)};
static const struct nvm_field server_fields[] = {
    TEST_VOLATILE(server, log), TEST_VOLATILE(server, clock),
    TEST_FIELD(server, first, NVM_FIELD_POINTER, .target = ITEM)};
static const struct nvm_type item_type = TEST_TYPE(ITEM, item, item_fields),
                             server_type = TEST_TYPE(SERVER, server, server_fields),
                             link_type = TEST_POINTER(LINK, item, ITEM);
TEST_TYPES(described, &item_type, &server_type, &link_type);

static const struct nvm_root server_root = {"server", "", &server, sizeof server, SERVER, 0, NULL};
static const struct nvm_root newest_root = {"newest", "", &newest, sizeof newest, LINK, 0, NULL};
static const struct nvm_root *const all_roots[] = {&server_root, &newest_root};

static struct item *make(uint64_t number) {
  __nvm_placing = (struct nvm_place){ITEM, NVM_SCOPE_POOL};
  struct item *made = __nvm_port_calloc(1, sizeof *made);
  __nvm_placing.scope = 0;
  CHECK(made);
  struct item filled = {server.first, number, number};
  store_bytes(made, &filled, sizeof filled);
  return made;
}

static void add(void) {
  server.first = newest = make(++server.count);
  __nvm_commit_point();
}

static void start(void) {
  setenv("NVMOVE_POOL", test_path("pool"), 1);
  __nvm_describe_roots(all_roots, all_roots + 2);
}

static void fill(void *unused) {
  (void)unused;
  start();
  server.log = &server;
  server.clock[1] = 5;
  CHECK(__nvm_load_begin(__builtin_frame_address(0)) == 0);
  add();
  __nvm_load_end(__builtin_frame_address(0));
  add();
}

static void first_start(void) { CHECK(test_child(NULL, fill, NULL) == 0); }

static bool has_both(void) {
  return server.count == 2 && server.first == newest && newest->number == 2 &&
         newest->next->number == 1 && !newest->next->next;
}

/* What a root leads to before the load may be no block, or none of the port's own. */
static void start_with(void *address) {
  start();
  newest = address;
  CHECK(__nvm_load_begin(__builtin_frame_address(0)) == 1);
  CHECK(has_both() && newest->seen == 2);
}

static void start_with_block(void *unused) {
  (void)unused;
  struct item *block = malloc(sizeof *block);
  CHECK(block);
  *block = (struct item){NULL, 9, 9};
  start_with(block + 1); /* right behind it */
}

static void start_with_own(void *unused) {
  (void)unused;
  start();
  newest = server.first = make(9);
  CHECK((uintptr_t)newest >> NVM_RANGE_SHIFT != NVM_RANGE_TAG);
  struct item *others = make(8);
  newest = __nvm_port_realloc(others, 4000);
  CHECK(newest);
  newest->seen = 7;
  CHECK(__nvm_load_begin(__builtin_frame_address(0)) == 1);
  CHECK(has_both() && newest->seen == 7); /* the later root's */
}

enum { MADE = 200000 };
static void *make_many(void *own) {
  struct item **first = own;
  for (int i = 0; i < MADE; i++) {
    struct item *one = make(7);
    *first = *first ? *first : one;
  }
  return NULL;
}

static void start_beside_a_thread(void *unused) {
  (void)unused;
  struct item *own = NULL, *others = NULL;
  pthread_t thread;
  start();
  CHECK(pthread_create(&thread, NULL, make_many, &others) == 0);
  make_many(&own);
  CHECK(pthread_join(thread, NULL) == 0);
  newest = others;
  CHECK(__nvm_load_begin(__builtin_frame_address(0)) == 1);
  CHECK(has_both() && newest->seen == 7);
}

TEST_ONCE(port_threads_before_the_load) {
  first_start();
  CHECK(test_child(NULL, start_beside_a_thread, NULL) == 0);
}

TEST_ONCE(port_root_leads_anywhere_before_the_load) {
  static char text[16];
  first_start();
  char on_stack[64] = {0};
  CHECK(test_child(NULL, start_with, (void *)-1) == 0);
  CHECK(test_child(NULL, start_with, (void *)0x10) == 0);
  CHECK(test_child(NULL, start_with, text) == 0);
  CHECK(test_child(NULL, start_with, on_stack + 1) == 0);
  CHECK(test_child(NULL, start_with_block, NULL) == 0);
  CHECK(test_child(NULL, start_with_own, NULL) == 0);
  test_check_pool(test_path("pool"));
}

static void abort_one(void) {
  CHECK(nvm_tx_begin(nvm_pool_attached()) == 0);
  server.count = 77;
  server.clock[0] = 4;
  CHECK(nvm_tx_abort(nvm_pool_attached()) == 0);
  CHECK(server.count == 3 && server.clock[0] == 4);
}

static void start_with_volatile(void *own) {
  start();
  server.log = own;
  server.clock[0] = 3;
  CHECK(__nvm_load_begin(__builtin_frame_address(0)) == 1);
  CHECK(has_both());
  CHECK(server.log == own && server.clock[0] == 3 && server.clock[1] == 0);
  add();
  struct nvm_stats before, after;
  CHECK(nvm_pool_stats(nvm_pool_attached(), &before) == 0);
  server.clock[0]++; /* is nothing to save */
  __nvm_commit_point();
  CHECK(nvm_pool_stats(nvm_pool_attached(), &after) == 0 && after.commits == before.commits);
  abort_one();
}

TEST(port_root_keeps_its_volatile_fields) {
  first_start();
  CHECK(test_child(NULL, start_with_volatile, &newest) == 0);
  test_check_pool(test_path("pool"));
}

/* The leak sanitizer knows the thread by its number in the parent, may not find its memory, and would end the process
 * before libnvmove closes the pool. */
static bool is_daemon;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return is_daemon; }

static void go_into_background(void) {
  CHECK(__nvm_port_daemon(1, 1) == 0);
  is_daemon = true;
  alarm(20);
}

/* Its pool is like any other program's: a child of its own has none, nobody else may open it. */
static void check_mine(void) {
  NVM_POOL *pool = nvm_pool_attached();
  CHECK(nvm_pool_open(test_path("pool")) == NULL && nvm_errno() == NVM_EBUSY);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0)
    _exit(nvm_alloc(pool, 0, 8) || nvm_errno() != NVM_ECHILD);
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static _Noreturn void live_on(void) {
  check_mine();
  add();
  nvm_tx_begin(nvm_pool_attached());
  server.first = NULL;
  nvm_tx_abort(nvm_pool_attached());
  exit(server.first != newest);
}

static void daemon_after_the_load(void *unused) {
  fill(unused);
  CHECK(nvm_tx_begin(nvm_pool_attached()) == 0);
  STORE(newest->number, 77);
  go_into_background();
  CHECK(nvm_tx_abort(nvm_pool_attached()) == 0 && newest->number == 2);
  live_on();
}

/* The daemon is done when its parent goes on. The program's roots are there what they were at the fork. */
static void come_late(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  if (is_daemon)
    return;
  usleep(200000);
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
}

static void daemon_with_a_late_parent(void *unused) {
  pthread_atfork(NULL, come_late, NULL);
  daemon_after_the_load(unused);
}

static void daemon_before_the_load(void *fresh) {
  start();
  struct item *first = make(1);
  go_into_background();
  CHECK(__nvm_load_begin(__builtin_frame_address(0)) == !fresh);
  if (fresh) {
    server.first = newest = first;
    server.count = 1;
    add();
    __nvm_load_end(__builtin_frame_address(0));
  }
  live_on();
}

/* With a thread of the runtime that counts references. */
static void daemon_with_counts(void *unused) {
  enum { TIMES = 2000 };
  fill(unused);
  CHECK(nvm_pool_count_references(nvm_pool_attached()) == 0);
  for (int i = 0; i < TIMES; i++) {
    newest = i % 2 ? server.first : NULL;
    __nvm_commit_point();
  }
  go_into_background();
  for (int i = 0; i < TIMES; i++) {
    newest = i % 2 ? server.first : NULL;
    __nvm_commit_point();
  }
  live_on();
}

static void check_three(void *unused) {
  (void)unused;
  start();
  CHECK(__nvm_load_begin(__builtin_frame_address(0)) == 1);
  CHECK(server.count == 3 && newest == server.first && newest->number == 3);
  CHECK(newest->next->number == 2 && newest->next->next->number == 1);
}

static void run_daemon(void (*body)(void *), void *argument) {
  CHECK(test_child(NULL, body, argument) == 0);
  while (nvm_pool_check(test_path("pool"), test_print_fault, NULL) < 0 && nvm_errno() == NVM_EBUSY)
    usleep(1000); /* the daemon has it */
  CHECK(test_child(NULL, check_three, NULL) == 0);
  test_check_pool(test_path("pool"));
}

TEST(port_daemon_after_the_load) { run_daemon(daemon_after_the_load, NULL); }
TEST(port_daemon_whose_parent_is_late) { run_daemon(daemon_with_a_late_parent, NULL); }
TEST(port_daemon_before_a_first_load) { run_daemon(daemon_before_the_load, &server); }
TEST(port_daemon_before_a_load) {
  first_start();
  run_daemon(daemon_before_the_load, NULL);
}
TEST_ONCE(port_daemon_with_counts) { run_daemon(daemon_with_counts, NULL); }

static sem_t stored, refused;
static void *store_and_wait(void *unused) {
  (void)unused;
  STORE(newest->seen, 5);
  sem_post(&stored);
  sem_wait(&refused);
  return NULL;
}

static void daemon_beside_a_thread(void *unused) {
  fill(unused);
  pthread_t thread;
  sem_init(&stored, 0, 0);
  sem_init(&refused, 0, 0);
  CHECK(pthread_create(&thread, NULL, store_and_wait, NULL) == 0);
  sem_wait(&stored);
  CHECK(__nvm_port_daemon(1, 1) == -1 && errno == ENOTSUP);
  sem_post(&refused);
  CHECK(pthread_join(thread, NULL) == 0);
  check_mine();
  add();
}

TEST(port_daemon_beside_a_thread) {
  char said[500];
  int status = test_child_says(daemon_beside_a_thread, NULL, said, sizeof said);
  fputs(said, stderr);
  CHECK(status == 0 && strstr(said, "daemon was refused: other threads use the pool"));
  CHECK(test_child(NULL, check_three, NULL) == 0);
}

static void store_in_child(void *says) {
  fill(NULL);
  pid_t child = __nvm_port_fork();
  if (child == 0) {
    __nvm_commit_point();
    if (says) {
      STORE(newest->number, 5);
      __nvm_commit_point();
      __nvm_commit_point();
    }
    _exit(0);
  }
  int status;
  CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
  unlink(test_path("pool"));
}

TEST_ONCE(port_forked_child_says_that_it_keeps_nothing) {
  char said[500];
  setenv("NVMOVE_METHOD", "shadow", 1);
  CHECK(test_child_says(store_in_child, NULL, said, sizeof said) == 0 && !*said);
  CHECK(test_child_says(store_in_child, &server, said, sizeof said) == 0);
  fputs(said, stderr);
  char *first = strstr(said, "is a forked child: nothing of what it stores is kept");
  CHECK(first && !strstr(first + 20, "forked child"));
}

static void start_at(void *path) {
  setenv("NVMOVE_POOL", path, 1);
  __nvm_describe_roots(all_roots, all_roots + 2);
  CHECK(__nvm_load_begin(__builtin_frame_address(0)) == 0);
  _exit(0);
}

static void check_refused(const char *path, const char *cause) {
  char said[2 * PATH_MAX];
  int status = test_child_says(start_at, (void *)(uintptr_t)path, said, sizeof said);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 1 && strstr(said, cause));
}

/* One character more than a path may have, which snprintf would cut off: relative, and absolute. */
TEST_ONCE(port_path_is_not_cut) {
  char folder[PATH_MAX], path[PATH_MAX + 1];
  CHECK(getcwd(folder, sizeof folder));
  size_t length = PATH_MAX - strlen(folder) - 1;
  for (size_t i = 0; i < PATH_MAX; i++)
    path[i] = i % 2 ? '/' : '.';
  path[length - 1] = 'p';
  path[length] = 0;
  check_refused(path, "NVMOVE_POOL: the path is too long");
  memset(path, '/', PATH_MAX);
  path[PATH_MAX - 1] = 'p';
  path[PATH_MAX] = 0;
  check_refused(path, "NVMOVE_POOL: the path is too long");
}

TEST_ONCE(port_path_is_a_link_that_leads_nowhere) {
  CHECK(symlink("nowhere", test_path("link")) == 0);
  check_refused(test_path("link"), "a symbolic link that leads nowhere");
}
