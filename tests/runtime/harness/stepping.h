/* stepping.h: a signal in front of each instruction of a piece of work, one after another.
 *
 * A child repeats the work between two stops (int3). Its parent steps through it once or a few times and
 * lists the instructions. Then it puts a breakpoint at one instruction for each repetition, and sends
 * SIGUSR1 where the child reaches it. Who includes it defines CHECK(condition), which ends the process.
 */
#pragma once

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SET_BITS = 18, INT3 = 0xcc };

__attribute__((noinline)) static void stop(void) { __asm__ volatile("int3" ::: "memory"); }

/* The address behind the instruction that stopped the child. */
static uintptr_t wait_for(pid_t child, struct user_regs_struct *registers) {
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  while (WIFSTOPPED(status) && WSTOPSIG(status) == SIGUSR1) { /* it was blocked where it was sent */
    CHECK(ptrace(PTRACE_CONT, child, 0, SIGUSR1) == 0);
    CHECK(waitpid(child, &status, 0) == child);
  }
  CHECK(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
  CHECK(ptrace(PTRACE_GETREGS, child, 0, registers) == 0);
  return registers->rip;
}

static uintptr_t go_on(pid_t child, int signal) {
  struct user_regs_struct registers;
  CHECK(ptrace(PTRACE_CONT, child, 0, signal) == 0);
  return wait_for(child, &registers);
}

/* Adds `at` to the set. */
static void add(uintptr_t *set, uintptr_t at) {
  size_t i = at * 0x9e3779b97f4a7c15 >> (64 - SET_BITS);
  for (int tries = 0; set[i] && set[i] != at; i = (i + 1) % (1 << SET_BITS))
    CHECK(++tries < 1 << SET_BITS);
  set[i] = at;
}

/* The instructions of some repetitions. The child stands in front of one. */
static void list(pid_t child, uintptr_t stop, uintptr_t *set, int turns) {
  struct user_regs_struct registers;
  for (; turns; turns--) {
    for (uintptr_t at = 0; at != stop; add(set, at)) {
      CHECK(ptrace(PTRACE_SINGLESTEP, child, 0, 0) == 0);
      at = wait_for(child, &registers);
    }
    CHECK(go_on(child, 0) == stop);
  }
}

/* One repetition with a signal in front of `at`. False: it does not come there. */
static bool interrupt(pid_t child, uintptr_t stop, uintptr_t at) {
  struct user_regs_struct registers;
  errno = 0;
  long text = ptrace(PTRACE_PEEKTEXT, child, at, 0);
  CHECK(!errno && ptrace(PTRACE_POKETEXT, child, at, (text & ~0xffL) | INT3) == 0);
  CHECK(ptrace(PTRACE_CONT, child, 0, 0) == 0);
  bool reached = wait_for(child, &registers) == at + 1;
  CHECK(ptrace(PTRACE_POKETEXT, child, at, text) == 0);
  if (reached) {
    registers.rip = at;
    CHECK(ptrace(PTRACE_SETREGS, child, 0, &registers) == 0);
    CHECK(go_on(child, SIGUSR1) == stop);
  }
  CHECK(go_on(child, 0) == stop);
  return reached;
}

/* `repeat` stops in front of its work and behind it, for ever. At every `step`th instruction, from `first`
 * on; all that `turns` repetitions execute are listed. Gives how many those are. */
static size_t step_through(void (*repeat)(void), int turns, size_t step, size_t first) {
  struct user_regs_struct registers;
  uintptr_t *set = calloc(1 << SET_BITS, sizeof *set);
  pid_t child = fork();
  CHECK(set && child >= 0);
  if (!child) {
    CHECK(ptrace(PTRACE_TRACEME, 0, 0, 0) == 0);
    repeat();
  }
  uintptr_t stop = wait_for(child, &registers);
  list(child, stop, set, turns);
  size_t count = 0, tried = 0, reached = 0;
  for (size_t i = 0; i < 1 << SET_BITS; i++)
    if (set[i] && set[i] != stop && count++ % step == first % step) {
      tried++;
      reached += interrupt(child, stop, set[i]);
    }
  CHECK(reached > tried / 3);
  CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
  free(set);
  return count;
}
