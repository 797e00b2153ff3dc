/* note_scanf.c: where a scanf is about to store, for formats and lists of arguments that only the
 * run knows.
 *
 * The arguments are found by a walk over the format before the call, and noted where they lie in a
 * pool. Nothing says how long a string is that a stream has and no width bounds: it is not noted,
 * and the first one that goes to a pool is told of.
 */
#include "core/map.h"

#include "nvmove/abi_scanf.h"

#include <stdarg.h>

static void tell(const void *address) {
  static atomic_flag told = ATOMIC_FLAG_INIT;
  const struct nvm_pool *pool = nvmi_pool_at(address);
  if (pool && !atomic_flag_test_and_set(&told))
    nvmi_tell("nvmove: %s: a scanf reads a string without a width to %p: it is not logged, a crash "
              "may lose it or leave it half written; say in the format how long it may be\n",
              pool->path, address);
}

/* All arguments of a scanf are pointers. */
static void *argument(va_list list, unsigned index) {
  va_list copy;
  va_copy(copy, list);
  void *address;
  do
    address = va_arg(copy, void *);
  while (index--);
  va_end(copy);
  return address;
}

void __nvm_note_vscanf(const void *Format, size_t Character, size_t Bound, va_list List) {
  struct nvm_scan scan = {Format, Character, 0};
  for (struct nvm_scan_store store; nvm_scan_next(&scan, &store);) {
    void *address = argument(List, store.argument);
    if (store.characters)
      __nvm_note_call(address, store.characters * store.each + store.end);
    else if (Bound == SIZE_MAX)
      tell(address);
    else
      __nvm_note_call(address, Bound * store.each + store.end);
  }
}

void __nvm_note_scanf(const void *Format, size_t Character, size_t Bound, ...) {
  va_list list;
  va_start(list, Bound);
  __nvm_note_vscanf(Format, Character, Bound, list);
  va_end(list);
}
