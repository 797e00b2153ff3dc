/* handed.c: the table of values that open transactions have handed over, by hand (core/handed.h). The
 * addresses are of memory of the test's own.
 */
#include "core/handed.h"
#include "base/own_locks.h"
#include "harness.h"
#include "hooks.h"

#include "nvmove/wrap.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINES = 1000, WORD = sizeof(uint64_t), OLD = 1, SECONDS = 5 };

static _Alignas(NVM_LINE_SIZE) char memory[LINES][NVM_LINE_SIZE];

/* The first word of a line. */
static struct nvmi_captured value_of(unsigned line, uint64_t sequence, unsigned char value) {
  struct nvmi_captured one = {
      .line = (uintptr_t)memory[line] / NVM_LINE_SIZE, .mask = 0xff, .sequence = sequence};
  memset(one.bytes, value, WORD);
  return one;
}

static void push(struct nvmi_array *list, unsigned line, uint64_t sequence, unsigned char value) {
  struct nvmi_captured one = value_of(line, sequence, value);
  CHECK(nvmi_array_push(list, &one, sizeof one));
}

/* The byte of a line, as who acquires a lock sees it. */
static unsigned char seen(unsigned line) {
  char word[WORD];
  nvmi_handed_read(word, memory[line], sizeof word);
  return (unsigned char)word[0];
}

static size_t count(void) { return atomic_load(&nvmi_handed_count); }

/* Each release adds a part to the table: these become few again. */
TEST_ONCE(handed_over_in_many_parts) {
  struct nvmi_array all = {0};
  memset(memory, OLD, sizeof memory);
  for (unsigned i = 0; i < LINES; i++) {
    push(&all, i, i, (unsigned char)(i | 2));
    nvmi_handed_add(&all, i);
    CHECK(count() == i + 1);
  }
  for (unsigned i = 0; i < LINES; i++)
    CHECK(seen(i) == (unsigned char)(i | 2));
  nvmi_handed_remove(&all);
  CHECK(count() == 0 && !nvmi_handed_some() && seen(LINES / 2) == OLD);
}

/* What one has handed over goes, the others' stays; of one byte the newest is seen. */
TEST_ONCE(handed_over_by_several) {
  struct nvmi_array first = {0}, second = {0}, third = {0};
  memset(memory, OLD, sizeof memory);
  push(&first, 0, 1, 11);
  push(&first, 1, 2, 12);
  push(&second, 1, 3, 13);
  push(&second, 2, 4, 14);
  nvmi_handed_add(&first, 0);
  nvmi_handed_add(&second, 0);
  CHECK(count() == 4 && seen(0) == 11 && seen(1) == 13 && seen(2) == 14);
  nvmi_handed_remove(&first);
  CHECK(count() == 2 && seen(0) == OLD && seen(1) == 13 && seen(2) == 14);
  push(&third, 3, 5, 15);
  nvmi_handed_add(&third, 0);
  CHECK(count() == 3 && seen(1) == 13 && seen(3) == 15);
  nvmi_handed_remove(&second);
  CHECK(count() == 1 && seen(1) == OLD && seen(2) == OLD && seen(3) == 15);
  nvmi_handed_remove(&third);
  CHECK(count() == 0);
}

/* Where little is left of a part, it becomes one with the next. */
TEST_ONCE(handed_over_and_little_left) {
  struct nvmi_array first = {0}, most = {0}, second = {0};
  memset(memory, OLD, sizeof memory);
  for (unsigned i = 0; i < 4; i++) {
    push(&first, i, i, 11);
    if (i)
      push(&most, i, i, 11);
  }
  push(&second, 0, 5, 12);
  push(&second, 4, 6, 12);
  nvmi_handed_add(&first, 0);
  nvmi_handed_add(&second, 0);
  nvmi_handed_remove(&most);
  CHECK(count() == 3 && seen(0) == 12 && seen(1) == OLD && seen(4) == 12);
  nvmi_handed_remove(&second);
  CHECK(count() == 1 && seen(0) == 11);
  nvmi_handed_remove(&first);
  CHECK(count() == 0);
}

/* Where nothing is handed over, nobody waits for the table. */
TEST_ONCE(handed_over_is_nothing) {
  struct nvmi_array some = {0};
  push(&some, 0, 1, 11);
  alarm(SECONDS);
  nvmi_lock(&nvmi_locks[NVMI_LOCK_HANDED]);
  nvmi_handed_remove(&some);
  nvmi_handed_drop(&some, (uintptr_t)memory, (uintptr_t)memory[1]);
  nvmi_unlock(&nvmi_locks[NVMI_LOCK_HANDED]);
  alarm(0);
}

/* To load nothing from nowhere is allowed, also while something is handed over. */
TEST_ONCE(handed_over_beside_a_load_of_nothing) {
  struct nvmi_array some = {0};
  char untouched = OLD;
  push(&some, 0, 1, 11);
  nvmi_handed_add(&some, 0);
  nvm_wrap_read(&untouched, NULL, 0);
  CHECK(untouched == OLD);
  nvmi_handed_remove(&some);
}

static void add_without_memory(void *unused) {
  struct nvmi_array all = {0};
  (void)unused;
  CHECK_FAILS(nvm_tx_begin(NULL) == 0, NVM_EARGUMENT); /* a message has room from now on */
  for (unsigned i = 0; i < LINES; i++)
    push(&all, i, i, OLD);
  fault_no_memory = true;
  nvmi_handed_add(&all, 0);
}

/* Without memory nothing can be handed over: the process ends, and says so. */
TEST_ONCE(handed_over_needs_memory) {
  char said[1000];
  int status = test_child_says(add_without_memory, NULL, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  CHECK(strstr(said, "out of memory for bytes that are handed over"));
}
