/* sigbus.c: a pool's file is cut short while the pool is open: one line says so, and then happens
 * what would have happened without us.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "store.h"

#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CUT = 0x10000, CALLED = 55, CALLED_WITH_PLACE = 56 };

static const char *path;
static char *block;
static char *volatile touched; /* what the handler has to be told of */

static void previous(int number) { _exit(number == SIGBUS ? CALLED : 1); }

static void previous_with_place(int number, siginfo_t *info, void *context) {
  bool is_told = number == SIGBUS && info->si_code > 0 && info->si_addr == touched && context;
  _exit(is_told ? CALLED_WITH_PLACE : 1);
}

static void handle_default(void) { signal(SIGBUS, SIG_DFL); }
static void handle_ignored(void) { signal(SIGBUS, SIG_IGN); }
static void handle_plainly(void) { signal(SIGBUS, previous); }
static void handle_with_place(void) {
  struct sigaction action = {.sa_sigaction = previous_with_place, .sa_flags = SA_SIGINFO};
  sigaction(SIGBUS, &action, NULL);
}

static void open_and_cut(const void *handle) {
  (*(void (*const *)(void))handle)();
  NVM_POOL *pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0 && (block = nvm_alloc(pool, 0, 200000)));
  CHECK(truncate(path, CUT) == 0);
}

static void touch_lost_page(void *handle) {
  open_and_cut(handle);
  touched = block + 150000;
  *(volatile char *)touched = 1;
}

/* Memory of the program's own, which is no business of the pool's. */
static void touch_other_page(void *handle) {
  open_and_cut(handle);
  FILE *file = tmpfile();
  touched = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
  *(volatile char *)touched = 1;
}

static void send_to_itself(void *handle) {
  open_and_cut(handle);
  kill(getpid(), SIGBUS);
}

/* One line of it is about the pool's file, or none. */
static void check_said(const char *said, bool of_pool) {
  char start[PATH_MAX + 64], *end;
  snprintf(start, sizeof start, "nvmove: %s: SIGBUS at file offset ", path);
  const char *line = strstr(said, start);
  CHECK((line != NULL) == of_pool);
  if (!of_pool)
    return;
  unsigned long long offset = strtoull(line + strlen(start), &end, 10);
  CHECK(offset >= CUT && offset < 1 << 20);
  static const char rest[] = ": the file was truncated or its storage failed; restore a copy\n";
  CHECK(strncmp(end, rest, strlen(rest)) == 0 && !strstr(end, "SIGBUS"));
}

/* Signals wait while stores are undone, but not those of faults. */
static void abort_on_lost_page(void *handle) {
  (*(void (*const *)(void))handle)();
  NVM_POOL *pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0 && (block = nvm_calloc(pool, 0, 1, 200000)) &&
        nvm_tx_commit(pool) == 0);
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(block[150000], 1);
  CHECK(truncate(path, CUT) == 0);
  nvm_tx_abort(pool);
}

/* The status of a process that does `body` after `handle`. */
static int after(void (*handle)(void), void (*body)(void *), bool says) {
  char said[4096];
  int status = test_child_says(body, &handle, said, sizeof said);
  check_said(said, says);
  unlink(path);
  return status;
}

static bool died_of_it(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS; }
static bool ended_with(int status, int code) {
  return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

TEST(sigbus) {
  path = test_path("pool");
  CHECK(died_of_it(after(handle_default, touch_lost_page, true)));
  CHECK(died_of_it(after(handle_ignored, touch_lost_page, true)));
  CHECK(ended_with(after(handle_plainly, touch_lost_page, true), CALLED));
  CHECK(ended_with(after(handle_plainly, abort_on_lost_page, true), CALLED));
  CHECK(ended_with(after(handle_with_place, touch_lost_page, true), CALLED_WITH_PLACE));
}

TEST_ONCE(sigbus_of_something_else) {
  path = test_path("pool");
  CHECK(died_of_it(after(handle_default, touch_other_page, false)));
  CHECK(ended_with(after(handle_with_place, touch_other_page, false), CALLED_WITH_PLACE));
  CHECK(died_of_it(after(handle_default, send_to_itself, false)));
  CHECK(ended_with(after(handle_ignored, send_to_itself, false), 0));
  CHECK(ended_with(after(handle_plainly, send_to_itself, false), CALLED));
}
