/* cache.c: see cache.h.
 *
 * A set is one line of this machine's own cache: sixteen tags of four bytes. Threads that touch a set at
 * the same time may lose one of their lines: that is one more miss.
 */
#include "emulation/cache.h"

#include "base/basics.h"

#include <stdatomic.h>

enum { LINE = 64, WAYS = 16, TAG_BITS = 32 };

struct set {
  _Alignas(LINE) _Atomic uint32_t tags[WAYS]; /* 0: none */
};

static struct set *sets;
static uint64_t set_count; /* a power of two */
static _Thread_local uint32_t dice = 1;

bool nvmi_cache_make(uint64_t bytes) {
  set_count = 1;
  while (set_count * 2 * WAYS * LINE <= bytes)
    set_count *= 2;
  sets = nvmi_dram_reserve(set_count * sizeof *sets);
  return sets;
}

static unsigned random_way(void) {
  dice ^= dice << 13;
  dice ^= dice >> 17;
  dice ^= dice << 5;
  return dice % WAYS;
}

bool nvmi_cache_touch(uint64_t line) {
  struct set *set = &sets[line % set_count];
  uint32_t tag = (uint32_t)(line / set_count) | (uint32_t)1 << (TAG_BITS - 1);
  for (unsigned way = 0; way < WAYS; way++)
    if (atomic_load_explicit(&set->tags[way], memory_order_relaxed) == tag)
      return true;
  unsigned way = 0;
  while (way < WAYS && atomic_load_explicit(&set->tags[way], memory_order_relaxed))
    way++;
  way = way < WAYS ? way : random_way();
  atomic_store_explicit(&set->tags[way], tag, memory_order_relaxed);
  return false;
}
