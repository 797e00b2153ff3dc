/* allocations.c: the C library's allocators, in front of them. See observe.h.
 *
 * The C library's own names of its functions are called, not the next ones that the dynamic linker
 * would find: they are there before it works, and in no need of memory to be found.
 */
#define _GNU_SOURCE
#include "observe/blocks.h"
#include "observe/observe.h"
#include "observe/stacks.h"
#include "observe/wrap.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

__thread const void *nvmi_observe_caller __attribute__((tls_model("initial-exec")));

/* The frame where a chain of calls starts. */
#define CALLER (nvmi_observe_caller ? nvmi_observe_caller : __builtin_frame_address(0))

static void *note(void *block, size_t size, const void *frame) {
  if (block && nvmi_observe_is_on()) {
    nvmi_observe_lock();
    nvmi_observe_made(block, size, nvmi_observe_stack(frame));
    nvmi_observe_unlock();
  }
  return block;
}

#define NOTED(block, size) note(block, size, CALLER)

/* Of what a block was before nothing is left that looks like a link. */
static void *clean(void *block) {
  if (block && nvmi_observe_is_on())
    memset(block, 0, malloc_usable_size(block));
  return block;
}

NVMI_INTERPOSE void *malloc(size_t size) { return NOTED(clean(__libc_malloc(size)), size); }

NVMI_INTERPOSE void *calloc(size_t count, size_t size) {
  return NOTED(__libc_calloc(count, size), count * size);
}

NVMI_INTERPOSE void *memalign(size_t alignment, size_t size) {
  return NOTED(clean(__libc_memalign(alignment, size)), size);
}

NVMI_INTERPOSE void *aligned_alloc(size_t alignment, size_t size) {
  return NOTED(clean(__libc_memalign(alignment, size)), size);
}

NVMI_INTERPOSE int posix_memalign(void **to, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) || !alignment || (alignment & (alignment - 1)))
    return EINVAL;
  int before = errno;
  void *block = NOTED(clean(__libc_memalign(alignment, size)), size);
  errno = before;
  if (!block)
    return ENOMEM;
  *to = block;
  return 0;
}

/* A block is forgotten before its address can be another's. */
NVMI_INTERPOSE void free(void *block) {
  if (block && nvmi_observe_is_on()) {
    nvmi_observe_lock();
    nvmi_observe_freed(block);
    nvmi_observe_unlock();
  }
  __libc_free(block);
}

/* The block is made by who makes it larger. It may be freed and another thread's at once, so both
 * happen under the lock; the C library's allocator calls nothing that takes it. */
static void *resize(void *block, size_t size, const void *frame) {
  if (!block)
    return note(clean(__libc_malloc(size)), size, frame);
  if (!nvmi_observe_is_on())
    return __libc_realloc(block, size);
  nvmi_observe_lock();
  size_t before = malloc_usable_size(block);
  void *made = __libc_realloc(block, size);
  if (made && malloc_usable_size(made) > before)
    memset((char *)made + before, 0, malloc_usable_size(made) - before);
  if (made || !size)
    nvmi_observe_freed(block);
  if (made)
    nvmi_observe_made(made, size, nvmi_observe_stack(frame));
  nvmi_observe_unlock();
  return made;
}

NVMI_INTERPOSE void *realloc(void *block, size_t size) { return resize(block, size, CALLER); }

NVMI_INTERPOSE void *reallocarray(void *block, size_t count, size_t size) {
  size_t bytes;
  if (!__builtin_mul_overflow(count, size, &bytes))
    return resize(block, bytes, CALLER);
  errno = ENOMEM;
  return NULL;
}
