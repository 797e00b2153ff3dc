/* raw_pool.c: libnvmove's own flushes and fences (raw.h), of a program that makes structures of its
 * own persistent by itself in a pool.
 *
 * libnvmove is not compiled for the trace. A pool in a raw trace has the power domain. Whatever
 * libnvmove stores there goes through the table of persist functions, or is flushed by it: so each of
 * its stores is found where its line is flushed, at the latest. What it stores and never flushes may
 * be lost at any time, and it does not rely on that.
 */
#include "raw/raw_pool.h"

#include "platform/persist.h"
#include "raw/raw.h"

static const struct nvmi_persist *real;

static void stream(void *to, const void *from, size_t size) {
  real->stream(to, from, size);
  nvmi_raw_stored(to, size, true);
}

/* By the cache on some processors: told as streamed, as in a trace of a pool. */
static void append(void *to, const void *from, size_t size) {
  real->append(to, from, size);
  nvmi_raw_stored(to, size, true);
}

static void flush(const void *address, size_t size) {
  real->flush(address, size);
  nvmi_raw_flushed(address, size);
}

static void fence(void) {
  real->fence();
  nvmi_raw_fenced();
}

static void store_line(void *to, const void *from, uint64_t mask) {
  real->store_line(to, from, mask);
  nvmi_raw_flushed(to, 64);
}

void nvmi_raw_follow_pools(void) {
  static const struct nvmi_persist told = {.name = "traced",
                                           .stream = stream,
                                           .append = append,
                                           .flush = flush,
                                           .fence = fence,
                                           .store_line = store_line};
  if (real)
    return;
  real = nvmi_persist_power();
  nvmi_persist_override = &told;
}
