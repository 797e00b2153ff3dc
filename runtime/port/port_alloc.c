/* port_alloc.c: malloc and its kin in the allocators that a port file names: to the pool or to
 * DRAM, as the scope says in which the program runs (abi.h, struct nvm_place).
 *
 * realloc: a block of the pool stays there. It gets the type that the call tells, and moves when
 * that is another than it has. What may be wrong never makes words that may be pointers plain
 * bytes: such a block has no type afterwards, and is searched. */
#define _GNU_SOURCE
#include "port/port.h"

#include "alloc/block_alloc.h"
#include "core/map.h"
#include "core/tracing.h"
#include "heap/heap.h"
#include "types/types.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Thread_local struct nvm_place __nvm_placing;

enum { END_MAX = 64 << 10 }; /* bytes of a block that are cleared where it becomes smaller */

static uint64_t take_told(void) {
  uint64_t told = __nvm_placing.type;
  __nvm_placing.type = 0;
  return told;
}

/* Of a new block. */
static uint64_t take_type(void) {
  uint64_t type = take_told() & ~NVM_PLACE_GUESSED;
  return type == NVM_PLACE_ANYTHING ? 0 : type;
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

/* A realloc may tell another type, and does not know how many bytes are the program's. */
static void *made_of(void *block, size_t size) {
  if (NVMI_LIKELY(block != NULL))
    nvmi_block_clear_end(block, size, nvm_usable_size(block));
  return made(block);
}

static void *in_pool(uint64_t type, size_t size) {
  struct nvm_pool *pool = nvmi_port_pool();
  size_t bytes = size ? size : 1;
  return pool ? made_of(nvm_alloc(pool, type, bytes), bytes) : in_dram(malloc(size));
}

static void *zeros_in_pool(uint64_t type, size_t count, size_t size) {
  struct nvm_pool *pool = nvmi_port_pool();
  if (!pool)
    return in_dram(calloc(count, size));
  if (!count || !size)
    count = size = 1;
  return made_of(nvm_calloc(pool, type, count, size), count * size);
}

void *__nvm_port_malloc(size_t Size) {
  uint64_t type = take_type();
  return is_in_scope() ? in_pool(type, Size) : malloc(Size);
}

void *__nvm_port_calloc(size_t Count, size_t Size) {
  uint64_t type = take_type();
  return is_in_scope() ? zeros_in_pool(type, Count, Size) : calloc(Count, Size);
}

/* Words that are more than plain bytes, or may be. */
static bool holds_words(const struct nvm_pool *pool, uint64_t id) {
  const struct nvm_type *type = nvmi_type_by_id(pool, id);
  for (uint32_t i = 0; type && i < type->field_count; i++) {
    const struct nvm_field *field = &type->fields[i];
    bool is_tail = field->kind == NVM_FIELD_FLEXIBLE_ARRAY;
    if (is_tail ? field->target != id && holds_words(pool, field->target)
                : field->kind != NVM_FIELD_VOLATILE)
      return true;
  }
  return !type;
}

/* Of a block of type `old` after a realloc that told this, not 0. */
static uint64_t type_after(const struct nvm_pool *pool, uint64_t old, uint64_t told) {
  if (told == NVM_PLACE_ANYTHING)
    return 0;
  if (told == (NVM_PLACE_ANYTHING | NVM_PLACE_GUESSED))
    return old && holds_words(pool, old) ? old : 0;
  if (told & NVM_PLACE_GUESSED || told == old)
    return old;
  return holds_words(pool, told) || (old && !holds_words(pool, old)) ? told : 0;
}

static void *resized(void *address, size_t size, uint64_t told) {
  struct nvm_pool *pool = told && size ? nvmi_pool_at(address) : NULL;
  size_t usable = pool && !pool->forked ? nvm_usable_size(address) : 0;
  if (!usable)
    return realloc(address, size); /* which says what is wrong */
  uint64_t old = nvmi_heap_type(pool, address), type = type_after(pool, old, told);
  /* A long end is not cleared: the block becomes a smaller one. */
  bool moves = type != old || (size <= usable && usable - size > END_MAX);
  void *block = moves ? nvmi_block_move(pool, type, address, size, usable) : NULL;
  bool is_free = moves && !block && nvm_errno() == NVM_EDOUBLEFREE;
  if (block || (type != old && !is_free))
    return made_of(block, size);
  block = realloc(address, size); /* where there is no room for a smaller one, too: its end stays */
  return block == address && !moves ? made_of(block, size) : block;
}

void *__nvm_port_realloc(void *Address, size_t Size) {
  if (!Address)
    return __nvm_port_malloc(Size);
  void *block = resized(Address, Size, take_told());
  return NVMI_LIKELY(block == Address) ? block : in_dram(block);
}

void *__nvm_port_reallocarray(void *Address, size_t Count, size_t Size) {
  size_t bytes;
  if (!__builtin_mul_overflow(Count, Size, &bytes))
    return __nvm_port_realloc(Address, bytes);
  take_told();
  errno = ENOMEM;
  return NULL;
}

/* A text, to a block of either kind that has room for it and its end. */
static char *copy_to(char *block, const char *text, size_t length) {
  bool ours = nvmi_pool_at(block);
  if (ours)
    __nvm_note(block, length + 1);
  memcpy(block, text, length);
  block[length] = '\0';
  if (ours)
    nvmi_trace_stored(block, length + 1);
  return block;
}

static char *copy(const char *text, size_t length) {
  char *block = __nvm_port_malloc(length + 1);
  if (!block)
    return NULL;
  return copy_to(block, text, length);
}

/* Whether the line is to lie in the pool, or does; the C library then reads to a buffer of its own. */
static bool keeps_line(char *line) { return line ? nvmi_pool_at(line) != NULL : is_in_scope(); }

/* The line that was read to `made`, in the caller's buffer, which may become longer or another. */
static ssize_t keep_line(char **line, size_t *size, char *made, ssize_t length) {
  size_t bytes = (size_t)length + 1;
  if (length < 0) {
    take_told();
    free(made);
    return length;
  }
  if (!*line || *size < bytes) {
    char *block = *line ? __nvm_port_realloc(*line, bytes) : __nvm_port_malloc(bytes);
    if (!block) {
      free(made);
      return -1;
    }
    *line = block;
    *size = bytes;
  }
  take_told();
  copy_to(*line, made, (size_t)length);
  free(made);
  return length;
}

ssize_t __nvm_port_getdelim(char **Line, size_t *Size, int End, FILE *From) {
  char *made = NULL;
  size_t room = 0;
  if (keeps_line(*Line)) {
    ssize_t length = getdelim(&made, &room, End, From);
    return keep_line(Line, Size, made, length);
  }
  take_told();
  return getdelim(Line, Size, End, From);
}

ssize_t __nvm_port_getline(char **Line, size_t *Size, FILE *From) {
  return __nvm_port_getdelim(Line, Size, '\n', From);
}

char *__nvm_port_strdup(const char *Text) { return copy(Text, strlen(Text)); }

char *__nvm_port_strndup(const char *Text, size_t Most) { return copy(Text, strnlen(Text, Most)); }

/* Looks at the format more closely than vasprintf; in place of it with _FORTIFY_SOURCE. */
int __vasprintf_chk(char **to, int flag, const char *format, va_list arguments);

/* `made` is what the C library gave. Its text is the caller's in a block of the scope. */
static int keep(char **to, char *made, int length) {
  if (length < 0)
    return length;
  char *block = copy(made, (size_t)length);
  free(made);
  if (!block)
    return -1;
  *to = block;
  return length;
}

int __nvm_port_vasprintf(char **To, const char *Format, va_list Arguments) {
  char *made = NULL;
  if (is_in_scope()) {
    int length = vasprintf(&made, Format, Arguments);
    return keep(To, made, length);
  }
  take_told();
  return vasprintf(To, Format, Arguments);
}

int __nvm_port_vasprintf_chk(char **To, int Flag, const char *Format, va_list Arguments) {
  char *made = NULL;
  if (is_in_scope()) {
    int length = __vasprintf_chk(&made, Flag, Format, Arguments);
    return keep(To, made, length);
  }
  take_told();
  return __vasprintf_chk(To, Flag, Format, Arguments);
}

int __nvm_port_asprintf(char **To, const char *Format, ...) {
  va_list arguments;
  va_start(arguments, Format);
  int length = __nvm_port_vasprintf(To, Format, arguments);
  va_end(arguments);
  return length;
}

int __nvm_port_asprintf_chk(char **To, int Flag, const char *Format, ...) {
  va_list arguments;
  va_start(arguments, Format);
  int length = __nvm_port_vasprintf_chk(To, Flag, Format, arguments);
  va_end(arguments);
  return length;
}
