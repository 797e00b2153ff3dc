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

/* The last point, where the process ends. */
void nvmi_observe_exit(void);

/* A point, where a call that may wait begins; none while the points so far have taken too much time. */
void nvmi_observe_point(const void *frame);
