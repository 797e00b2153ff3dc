/* called.c: what functions that nobody instrumented may write, as long as they run.
 *
 * Compiled code notes it before the call. Inside such a call a transaction may end, in a function
 * of the program that is called back, or a lock may be released, by malloc or a callback; then
 * nothing counts as noted, and the call goes on writing. So its ranges stay in a list until it has
 * returned, and are noted anew. A call may end by longjmp or an exception: then its frame is gone.
 * The jump tells where it lands, and compiled code through which an exception passes tells of its
 * frame. A frame below the current one is gone, too, if both are on the thread's own stack; a
 * coroutine's may be anywhere.
 */
#define _GNU_SOURCE
#include "tx/called.h"
#include "base/signals.h"
#include "base/uncancelled.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

struct nvmi_called {
  void *address;
  size_t size;
  uintptr_t frame; /* of the note, at most that of the call */
};

/* Signals wait: a handler's calls use the list, too. */
static __attribute__((noinline, cold)) void make_room(struct nvmi_thread *thread, size_t count) {
  sigset_t before = nvmi_signals_hold();
  if (!nvmi_array_reserve(&thread->called, count, sizeof(struct nvmi_called)))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for what a library's function may write");
  nvmi_signals_release(&before);
}

/* In this order a signal handler's own calls leave the list as it was; they may have made `count` larger. A jump
 * within the handler may have taken the entry out that was not yet written. */
void nvmi_called_enter(struct nvmi_thread *thread, void *address, size_t size, const void *frame) {
  struct nvmi_called called = {address, size, (uintptr_t)frame};
  struct nvm_line_table *table = thread->table;
  uint64_t place = table->called;
  if (NVMI_UNLIKELY(place >= thread->called.room))
    make_room(thread, place + 1);
  if (thread->called.count <= place)
    thread->called.count = place + 1;
  table->called = place + 1;
  nvmi_compiler_barrier();
  struct nvmi_called *entry = (struct nvmi_called *)thread->called.items + place;
  entry->frame = called.frame; /* from here on no jump within a handler takes it out */
  nvmi_compiler_barrier();
  *entry = called;
  nvmi_compiler_barrier();
  table->called = place + 1;
}

/* A function that nobody instrumented has its buffer enlarged, as getline does, and goes on in the
 * larger one: all of that is what it may write. */
void nvmi_called_moved(struct nvmi_thread *thread, const void *from, size_t old_size, void *to,
                       size_t size) {
  struct nvmi_called *called = thread->called.items;
  uint64_t count = thread->table->called;
  bool is_written = false;
  for (uint64_t i = 0; i < count && i < thread->called.count; i++)
    if ((uintptr_t)called[i].address - (uintptr_t)from < old_size) {
      called[i].address = to;
      called[i].size = size;
      is_written = true;
    }
  if (is_written)
    __nvm_note(to, size);
}

/* It may lie in an array on the thread's own. */
bool nvmi_is_on_signal_stack(uintptr_t frame) {
  stack_t other;
  return sigaltstack(NULL, &other) == 0 && other.ss_flags & SS_ONSTACK &&
         frame - (uintptr_t)other.ss_sp < other.ss_size;
}

/* The main thread's may become longer (setrlimit); the kernel maps nothing else in so much below its end. */
#define MAIN_STACK ((size_t)128 << 20)
extern void
    *__libc_stack_end; /* of the main thread; in a child of fork another one may go on alone */

/* On the stack that the thread began with. */
bool nvmi_is_on_own_stack(uintptr_t frame) {
  static _Thread_local uintptr_t low, high;
  pthread_attr_t attributes;
  void *start;
  size_t size;
  int before = errno;
  if (!high && NVMI_UNCANCELLED(pthread_getattr_np(pthread_self(), &attributes)) == 0) {
    if (pthread_attr_getstack(&attributes, &start, &size) == 0) {
      high = (uintptr_t)start + size;
      bool is_main = (uintptr_t)__libc_stack_end - (uintptr_t)start < size;
      low = is_main && size < MAIN_STACK ? high - MAIN_STACK : (uintptr_t)start;
    }
    pthread_attr_destroy(&attributes);
  }
  errno = before;
  return frame >= low && frame < high && !nvmi_is_on_signal_stack(frame);
}

bool nvmi_is_elsewhere(uintptr_t frame) {
  return !nvmi_is_on_own_stack(frame) ||
         !nvmi_is_on_own_stack((uintptr_t)__builtin_frame_address(0));
}

/* Who jumps on another stack leaves nothing on this one. A handler's own stack ends with the jump to another. The
 * others may be many, in any order: there the jump leaves what lies between its ends. */
bool nvmi_is_left(uintptr_t frame, uintptr_t stack, uintptr_t from) {
  bool is_own = nvmi_is_on_own_stack(stack);
  if (nvmi_is_on_signal_stack(frame) && !nvmi_is_on_signal_stack(stack))
    return true;
  return frame < stack && nvmi_is_on_own_stack(frame) == is_own &&
         (is_own || (from && from <= frame));
}

/* An exception has been caught on such a stack: it has left the calls that began last. */
static void left_by_exception(struct nvmi_thread *thread, uintptr_t stack) {
  const struct nvmi_called *called = thread->called.items;
  uint64_t count = thread->table->called;
  while (count && count <= thread->called.count && called[count - 1].frame < stack &&
         !nvmi_is_on_own_stack(called[count - 1].frame))
    count--;
  thread->table->called = count;
}

void nvmi_called_left(struct nvmi_thread *thread, uintptr_t stack, uintptr_t from) {
  struct nvmi_called *called = thread->called.items;
  uint64_t count = thread->table->called, kept = 0;
  if (!from && !nvmi_is_on_own_stack(stack)) {
    left_by_exception(thread, stack);
    return;
  }
  for (uint64_t i = 0; i < count && i < thread->called.count; i++)
    if (!nvmi_is_left(called[i].frame, stack, from))
      called[kept++] = called[i];
  thread->table->called = kept;
}

void nvmi_note_called(struct nvmi_thread *thread) {
  uint64_t count = thread->table->called;
  if (NVMI_LIKELY(!count) || thread != nvmi_self || thread->busy)
    return;
  for (uint64_t i = 0; i < count && i < thread->called.count; i++) {
    struct nvmi_called called = ((struct nvmi_called *)thread->called.items)[i];
    if (called.frame > (uintptr_t)__builtin_frame_address(0) || nvmi_is_elsewhere(called.frame))
      __nvm_note(called.address, called.size);
  }
}
