/* harness.h: a test is a function, run in a process of its own with a folder of its own.
 *
 * TEST runs under the methods undo and shadow in the domains process and power; TEST_WRAPPED, whose stores
 * and loads come through nvmove/wrap.h, under all methods; TEST_ONCE runs once, with the defaults. In long
 * tests the domain disk is added, and there commits that do not wait. In short ones each method has one of
 * the domains (--all-ways: each), and ThreadSanitizer sees the pair with the domain power. CHECK ends the
 * test. The folder lies in DRAM (/dev/shm), so a crash test is a few milliseconds.
 */
#pragma once

#include "nvmove/nvmove.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

enum test_kind { TEST_EACH, TEST_ALONE, TEST_EXPLICIT };

struct test {
  const char *name;
  void (*run)(void);
  enum test_kind kind;
  struct test *next;
};

void test_register(struct test *test);

#define TEST_REGISTER(name, kind)                                                                  \
  static void run_##name(void);                                                                    \
  __attribute__((constructor)) static void register_##name(void) {                                 \
    static struct test test = {#name, run_##name, kind, NULL};                                     \
    test_register(&test);                                                                          \
  }                                                                                                \
  static void run_##name(void)
#define TEST(name) TEST_REGISTER(name, TEST_EACH)
#define TEST_ONCE(name) TEST_REGISTER(name, TEST_ALONE)
#define TEST_WRAPPED(name) TEST_REGISTER(name, TEST_EXPLICIT)

_Noreturn void test_fail(const char *file, int line, const char *what);
enum { TEST_SKIPPED = 77 };
_Noreturn void test_skip(const char *reason);

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition))                                                                              \
      test_fail(__FILE__, __LINE__, #condition);                                                   \
  } while (0)
/* The call failed as it should. */
#define CHECK_FAILS(call, code)                                                                    \
  do {                                                                                             \
    if (call)                                                                                      \
      test_fail(__FILE__, __LINE__, #call " succeeded");                                           \
    if (nvm_errno() != (code))                                                                     \
      test_fail(__FILE__, __LINE__, nvm_strerror());                                               \
  } while (0)

/* NVMOVE_TEST_SEED, 0 without: what is drawn at random is drawn anew. */
uint64_t test_seed(void);
/* NVMOVE_TEST_LONG: tests die at each place that they could; without it at some of each kind. */
bool test_is_long(void);

/* Ends the process as a failure of power, which is simulated. All of them are counted, and printed behind the
 * tests: the states that they left were opened and judged. */
enum { POWER_CUT = 33 };
_Noreturn void test_power_cut(void);

/* Path of a file in this test's folder; valid until the test ends. */
const char *test_path(const char *name);
/* A tmpfs of so many KiB at test_path("disk"), which goes with the test's process, however that
 * ends. */
void test_small_disk(unsigned kib);
/* A pool that must open or be created. */
NVM_POOL *test_open(const char *path);
NVM_POOL *test_create(const char *path, size_t size);
bool test_is_shadow(NVM_POOL *pool);
bool test_is_on_disk(NVM_POOL *pool); /* as its domain says */
bool test_is_delayed(void);           /* commits do not wait (NVMOVE_DURABLE) */
/* Changes bits of a byte of the test's file "pool". */
void test_flip(uint64_t at, uint8_t bits);
/* Blocks that the file's tables have. */
uint64_t test_blocks(NVM_POOL *pool);
/* To stderr, for functions that report faults. */
void test_print_fault(void *context, const char *line);
/* nvm_pool_check finds nothing, and chunks that were never used are zero. */
void test_check_pool(const char *path);

/* Runs `body(argument)` in a forked process with NVMOVE_KILL_AT set to `kill` (null: unset). Gives
 * its wait status; the body's return ends it with status 0. */
int test_child(const char *kill, void (*body)(void *), void *argument);
bool test_was_killed(int status);
/* The same without a kill, and what it wrote to stderr: at most `size` - 1 bytes, and a 0. */
int test_child_says(void (*body)(void *), void *argument, char *said, size_t size);
