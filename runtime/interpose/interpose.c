/* interpose.c: free, realloc, reallocarray and malloc_usable_size know pool memory.
 *
 * Pre-compiled code frees what it was given, and a program that was moved may go on calling free.
 * So these four stand in front of the C library's in the whole process: an address in the reserved
 * range goes to the heap of its pool, any other on to the allocator behind. They are weak, so that
 * a program that brings its own allocator keeps it; its free then is not asked about pool memory,
 * nvm_free is. The allocator of a sanitizer is weak itself and comes first in the link: nvmove-cc
 * asks for the strong twin of this file then (interpose_strong.c), which goes on to the
 * sanitizer's. In a program that is linked statically the linker wraps the four names, and
 * interpose_wrapped.c stands behind.
 *
 * Memory of a pool that is closed, or a block that is free already, is a defect of the program: it
 * ends with a message, as in the C library.
 */
#define _GNU_SOURCE
#include "interpose/interpose.h"

#include "alloc/block_quick.h"
#include "core/map.h"
#include "emulation/pending.h"
#include "heap/heap_locate.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#ifndef NVMI_INTERPOSE
#define NVMI_INTERPOSE __attribute__((weak, visibility("default")))
const char nvmi_interposed = 1;
#endif

#ifdef NVMI_WRAPPED
#define NAME(name) __wrap_##name
void __real_free(void *);
void *__real_realloc(void *, size_t);
__attribute__((weak)) size_t __real_malloc_usable_size(void *);
static const struct {
  void (*free)(void *);
  void *(*realloc)(void *, size_t);
  size_t (*usable_size)(void *);
} behind = {__real_free, __real_realloc, __real_malloc_usable_size};

/* Only the allocator's usable_size may be missing. */
static bool look(void) { return false; }
#else
#define NAME(name) name

/* A sanitizer's own; null without one. */
__attribute__((weak)) void __interceptor_free(void *);
__attribute__((weak)) void *__interceptor_realloc(void *, size_t);
__attribute__((weak)) size_t __interceptor_malloc_usable_size(void *);

static struct {
  void (*free)(void *);
  void *(*realloc)(void *, size_t);
  size_t (*usable_size)(void *);
} behind;
static _Thread_local bool looking;

/* The dynamic linker may free what it allocated for its own errors: that little is lost. */
static bool look(void) {
  if (looking)
    return false;
  looking = true;
  *(void **)&behind.usable_size = __interceptor_malloc_usable_size
                                      ? (void *)__interceptor_malloc_usable_size
                                      : dlsym(RTLD_NEXT, "malloc_usable_size");
  *(void **)&behind.realloc =
      __interceptor_realloc ? (void *)__interceptor_realloc : dlsym(RTLD_NEXT, "realloc");
  *(void **)&behind.free =
      __interceptor_free ? (void *)__interceptor_free : dlsym(RTLD_NEXT, "free");
  looking = false;
  return behind.free && behind.realloc && behind.usable_size;
}
#endif

/* Before the first pool a process with very much mapped may have memory of its own there. */
static bool is_ours(const void *address) {
  return NVMI_UNLIKELY((uintptr_t)address >> NVM_RANGE_SHIFT == NVM_RANGE_TAG) &&
         nvmi_range_is_reserved;
}

static _Noreturn void misused(const char *function, const void *address) {
  nvmi_die(NULL, "%s(%p): %s", function, address, nvm_strerror());
}

NVMI_INTERPOSE void NAME(free)(void *address) {
  if (!is_ours(address)) {
    if (NVMI_UNLIKELY(!behind.free) && !look())
      return;
    if (NVMI_UNLIKELY(nvmi_block_freed != NULL) && address && behind.usable_size)
      nvmi_block_freed(address, behind.usable_size(address));
    behind.free(address);
    return;
  }
  if (NVMI_LIKELY(nvmi_free_soon(address)))
    return;
  int before = errno;
  if (nvm_free(address) != 0 && nvm_errno() != NVM_ECHILD)
    misused("free", address);
  errno = before;
}

NVMI_INTERPOSE void *NAME(realloc)(void *address, size_t size) {
  if (!is_ours(address)) {
    if (NVMI_UNLIKELY(!behind.realloc) && !look()) {
      errno = ENOMEM;
      return NULL;
    }
    return behind.realloc(address, size);
  }
  if (!size) {
    NAME(free)(address);
    return NULL;
  }
  NVM_POOL *pool = nvmi_pool_at(address);
  void *block = pool ? nvm_realloc(pool, address, size) : NULL;
  if (!pool || (!block && (nvm_errno() == NVM_EPOINTER || nvm_errno() == NVM_EDOUBLEFREE)))
    misused("realloc", address);
  if (!block)
    errno = ENOMEM;
  return block;
}

NVMI_INTERPOSE void *NAME(reallocarray)(void *address, size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return NULL;
  }
  return NAME(realloc)(address, bytes);
}

NVMI_INTERPOSE size_t NAME(malloc_usable_size)(void *address) {
  if (is_ours(address)) {
    const struct nvm_pool *pool = nvmi_pool_at(address);
    size_t size = pool ? nvmi_small_size(pool, address) : 0;
    return NVMI_LIKELY(size != 0) ? size : nvm_usable_size(address);
  }
  return address && (behind.usable_size || look()) ? behind.usable_size(address) : 0;
}
