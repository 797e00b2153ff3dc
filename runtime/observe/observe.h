/* observe.h: what a program does with its memory, written down while it runs.
 *
 * A program built with --nvmove-observe is linked with this library (libnvmove_observe.a). With
 * NVMOVE_OBSERVE=DIR in its environment it writes DIR/PID.N.raw; `nvmove observe` reads these files.
 * Without the variable each call goes straight to the C library.
 *
 * Block: memory that malloc or a function of its kind returned. Stack: the calls that led to an
 * allocation, as return addresses. Point: a moment at which the program waits for input from
 * outside. That no command is in work then is assumed. At a point the library follows all links. Link: an aligned
 * word, in a variable, in a frame of the waiting thread or in a linked block, that holds an address
 * inside of a block. Links are found as a conservative garbage collector finds them: a number that
 * looks like an address counts as a link.
 *
 * What is written is a sum over blocks of the same stack, so its size does not grow with the data:
 * per stack how many blocks were made, were linked at a point, were freed and when; and which
 * stacks' blocks link to which.
 *
 * Not seen: memory of mmap, and memory that a program's own allocator hands out of larger blocks
 * (they count as the larger block); thread-local variables; frames of other threads.
 *
 * One lock guards all of it; one thread at a time makes a point. A point holds the lock, so that no
 * block goes away meanwhile. Threads may store at that time: a link that moves then can be missed. A
 * forked child is not observed.
 *
 * An archive of its own, with no use of libnvmove: see outputs/outputs.h for the pattern.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NVMI_OBSERVE_DEPTH 40              /* calls of a stack that are kept, the innermost first */
#define NVMI_OBSERVE_STACKS_MAX (1u << 16) /* further ones are counted as the stack 0 */

/* Of all blocks that one stack has made. */
struct nvmi_observe_stack {
  uint64_t hash;
  uint64_t made, bytes;
  uint64_t freed_early;    /* before any point */
  uint64_t freed_unlinked; /* no point found it linked */
  uint64_t freed_linked;
  uint64_t alive, alive_max; /* now; at a point, the most */
  uint64_t linked;           /* at the last point */
  uint64_t linked_max;       /* at a point, the most */
  uint64_t size_min, size_max;
  uint64_t wait_first, wait_last; /* points that it made; 0: none */
  unsigned depth;
  uintptr_t address[NVMI_OBSERVE_DEPTH];
};

struct nvmi_observe_block {
  uintptr_t start; /* 0: none; 1: one was here */
  size_t size;
  uint32_t stack;
  bool met, linked; /* by a point: it was there; it was linked */
  bool marked;      /* by the present point */
};

/* observe.c: whether this process is observed; found out at the first call. */
bool nvmi_observe_is_on(void);
void nvmi_observe_lock(void);
void nvmi_observe_unlock(void);
/* Zeroed memory that is never given back; ends the process without any. */
void *nvmi_observe_memory(size_t size);
void nvmi_observe_give_back(void *memory, size_t size);

/* allocations.c: the frame of a function of the C library that allocates for its caller, while it
 * runs in this thread; or null. */
extern __thread const void *nvmi_observe_caller __attribute__((tls_model("initial-exec")));

/* stacks.c: under the lock. The stack's number; `frame`: of the function that was called first. */
uint32_t nvmi_observe_stack(const void *frame);
struct nvmi_observe_stack *nvmi_observe_stack_at(uint32_t number);
uint32_t nvmi_observe_stack_count(void);
/* The calling thread is the first one of the process. */
bool nvmi_observe_is_first_thread(const void *frame);
/* Where the calling thread's frames end. */
uintptr_t nvmi_observe_frames_end(const void *frame);

/* blocks.c: under the lock. */
void nvmi_observe_made(const void *start, size_t size, uint32_t stack);
void nvmi_observe_freed(const void *start);
/* All blocks, by address; the caller gives `*memory` of `*bytes` back. */
struct nvmi_observe_block **nvmi_observe_sorted(size_t *count, size_t *bytes);

/* pages.c: calls `look` for the parts of [start, end) that can be read and were ever written to. What
 * lies in `copy` is the content of `at`; they may be the same. */
struct nvmi_observe_words {
  uintptr_t at;
  const volatile uintptr_t *copy;
  size_t count;
};
void nvmi_observe_read(uintptr_t start, uintptr_t end,
                       void (*look)(const struct nvmi_observe_words *words, void *context),
                       void *context);

/* modules.c: by whoever makes a point, without the lock. */
struct nvmi_observe_part {
  const char *name; /* of its file; empty: the program */
  uintptr_t base, start, end;
  bool is_data;
};
#define NVMI_OBSERVE_PARTS_MAX 1024
void nvmi_observe_list_parts(void);
const struct nvmi_observe_part *nvmi_observe_parts(size_t *count);

/* links.c: under the lock; a point. `frame`: of the interposed function. */
void nvmi_observe_follow(const void *frame, uint64_t point);

/* edges.c: under the lock. A link from a word to blocks of a stack. `kind`: 'v' a variable's
 * address, 'b' a block's stack, 'f' a frame's return address; `offset`: of the word, in a block. */
void nvmi_observe_edges_begin(uint64_t point);
void nvmi_observe_edge(char kind, uintptr_t from, uint32_t offset, uint32_t to);
void nvmi_observe_edges_end(void); /* of a point: the most links of a point count */
struct nvmi_observe_edge {
  uintptr_t from;
  uint32_t offset, to;
  uint64_t now, most;    /* links: at this point, at a point */
  uint64_t since, until; /* the numbers of the first and the last point that found it */
  char kind;             /* 0: none */
};
const struct nvmi_observe_edge *nvmi_observe_edges(size_t *slots);

/* writing.c: under the lock. Replaces DIR/PID.N.raw; what was there stays whole until then. */
void nvmi_observe_write(const char *folder, uint64_t points, const char *end);

/* The last point, where the process ends. */
void nvmi_observe_exit(void);

/* A point, where a call that may wait begins; none while the points so far have taken too much time. */
void nvmi_observe_point(const void *frame);
