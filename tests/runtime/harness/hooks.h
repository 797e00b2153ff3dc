/* hooks.h: what a test does when the runtime is at a chosen place: schedules of several threads by
 * hand. The linker sends the calls through hooks.c (CMakeLists.txt). */
#pragma once

#include "base/kill.h"

#include <stdbool.h>
#include <stddef.h>

/* At each step of kill.h, once a hook is set; in the thread that takes it. */
void hook_steps(void (*hook)(enum nvmi_step step));
/* In place of each barrier in all threads (membarrier), before it; null: none. */
extern void (*hook_barrier)(void);
/* The kernel, or a sandbox, refuses membarrier. */
extern bool hook_no_barrier;
/* Before each wait at a futex, false; behind each that wakes, true; null: none. */
extern void (*hook_futex)(bool wakes);
/* Calls of mmap so far that gave something. */
extern _Atomic unsigned hook_maps;
/* Calls of munmap so far. Each gives back no more than one mmap gave, or the test ends. */
extern _Atomic unsigned hook_unmapped;
void hook_mapped(void *at, size_t size);
/* What mmap gave and nobody has given back. */
unsigned hook_mapped_now(void);
/* faults.c: the kernel is older than 5.14, which knows of MADV_POPULATE_WRITE. */
extern bool fault_old_kernel;
/* faults.c: files get no blocks but where something is stored. Simulations copy and compare only those. */
extern bool hook_sparse;
/* syncs.c: every file lies on a file system of this type (linux/magic.h); 0: on its own. */
extern long hook_file_system;
/* faults.c: before each mmap; null: none. */
extern void (*hook_map)(void);
/* faults.c: mmap gives nothing. */
extern bool fault_no_memory;
/* In place of each sched_yield, before it; null: none. */
extern void (*_Atomic hook_yield)(void);
/* faults.c: behind each fsync; null: none. */
extern void (*hook_synced)(void);
/* Pages of the private view are about to be given back. */
extern void (*hook_dropped)(void *at, size_t size);
/* faults.c: the page of a file that cannot be read, by its offset: a read that comes to it gives what
 * lies before; 0: none. */
extern long long fault_bad_page;
/* faults.c: every second read is interrupted, the others give half of what was asked for. */
extern bool fault_reads_in_part;
