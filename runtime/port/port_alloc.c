/* port_alloc.c: malloc and its kin in the allocators that a port file names: to the pool or to
 * DRAM, as the scope says in which the program runs (abi.h, struct nvm_place). */
#include "port/port.h"

#include "core/tracing.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

_Thread_local struct nvm_place __nvm_placing;

static uint64_t take_type(void) {
  uint64_t type = __nvm_placing.type;
  __nvm_placing.type = 0;
  return type;
}

static bool is_in_scope(void) { return NVMI_UNLIKELY(__nvm_placing.scope == NVM_SCOPE_POOL); }

/* The program sees no more than a null pointer. */
static void *made(void *block) {
  static _Atomic bool told;
  if (NVMI_LIKELY(block != NULL))
    return block;
  if (!atomic_exchange(&told, true))
    nvmi_tell("nvmove: %s\n", nvm_strerror());
  errno = ENOMEM;
  return NULL;
}

static void *in_dram(void *block) {
  nvmi_port_gave(block);
  return block;
}

static void *in_pool(uint64_t type, size_t size) {
  struct nvm_pool *pool = nvmi_port_pool();
  return pool ? made(nvm_alloc(pool, type, size ? size : 1)) : in_dram(malloc(size));
}

static void *zeros_in_pool(uint64_t type, size_t count, size_t size) {
  struct nvm_pool *pool = nvmi_port_pool();
  if (!pool)
    return in_dram(calloc(count, size));
  return made(count && size ? nvm_calloc(pool, type, count, size) : nvm_calloc(pool, type, 1, 1));
}

void *__nvm_port_malloc(size_t Size) {
  uint64_t type = take_type();
  return is_in_scope() ? in_pool(type, Size) : malloc(Size);
}

void *__nvm_port_calloc(size_t Count, size_t Size) {
  uint64_t type = take_type();
  return is_in_scope() ? zeros_in_pool(type, Count, Size) : calloc(Count, Size);
}

void *__nvm_port_realloc(void *Address, size_t Size) {
  if (!Address)
    return __nvm_port_malloc(Size);
  take_type(); /* the block keeps its own */
  void *block = realloc(Address, Size);
  return NVMI_LIKELY(block == Address) ? block : in_dram(block);
}

void *__nvm_port_reallocarray(void *Address, size_t Count, size_t Size) {
  size_t bytes;
  if (!__builtin_mul_overflow(Count, Size, &bytes))
    return __nvm_port_realloc(Address, bytes);
  take_type();
  errno = ENOMEM;
  return NULL;
}

static char *copy(const char *text, size_t length) {
  char *block = __nvm_port_malloc(length + 1);
  if (!block)
    return NULL;
  bool ours = nvmi_pool_at(block);
  if (ours)
    __nvm_note(block, length + 1);
  memcpy(block, text, length);
  block[length] = '\0';
  if (ours)
    nvmi_trace_stored(block, length + 1);
  return block;
}

char *__nvm_port_strdup(const char *Text) { return copy(Text, strlen(Text)); }

char *__nvm_port_strndup(const char *Text, size_t Most) { return copy(Text, strnlen(Text, Most)); }
