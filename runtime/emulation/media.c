/* media.c: see media.h. */
#include "emulation/media.h"
#include "emulation/charge.h"

#include "base/own_locks.h"
#include "base/settings.h"
#include "emulation/spend.h"

static uint64_t (*number_of)(const void *address);
static const struct nvmi_persist *real;
static bool is_chosen; /* by a pool */

/* A line that is flushed stays in the cache, where a load finds it; one that is streamed does not. */
static void keep(struct nvmi_charged *me, const void *address, uint64_t lines) {
  me->unfenced_flushes += lines;
  if (nvmi_emulated.model == NVMI_CACHED)
    nvmi_charge_keep(me, number_of(address), lines);
}

static void stream(void *to, const void *from, size_t size) {
  nvmi_charged_self()->unfenced_streams += size >> NVMI_LINE_SHIFT;
  real->stream(to, from, size);
}

static void append(void *to, const void *from, size_t size) {
  nvmi_charged_self()->unfenced_streams += size >> NVMI_LINE_SHIFT;
  real->append(to, from, size);
}

static void flush(const void *address, size_t size) {
  keep(nvmi_charged_self(), address, nvmi_lines_at(address, size));
  real->flush(address, size);
}

static void store_line(void *to, const void *from, uint64_t mask) {
  keep(nvmi_charged_self(), to, 1);
  real->store_line(to, from, mask);
}

/* The wait contains the real fence's. */
static void fence(void) {
  struct nvmi_charged *me = nvmi_charged_self();
  uint64_t start = nvmi_clock_now(), flushed = me->unfenced_flushes,
           streamed = me->unfenced_streams;
  real->fence();
  if (!flushed && !streamed)
    return;
  me->unfenced_flushes = me->unfenced_streams = 0;
  me->pool_flushes += flushed;
  me->pool_streams += streamed;
  me->pool_fences++;
  nvmi_spend(me, start,
             flushed * nvmi_emulated.clwb + nvmi_transfer(nvmi_emulated.write, flushed + streamed) +
                 nvmi_emulated.commit);
}

const char *nvmi_media_fault(void) {
  static _Thread_local char fault[256];
  const char *wish = nvmi_setting("NVMOVE_EMULATE");
  struct nvmi_profile read;
  return !wish || nvmi_profile_read(wish, &read, fault, sizeof fault) ? NULL : fault;
}

/* Once, by whoever comes first. */
static void choose(const char *wish) {
  char fault[256];
  if (is_chosen || nvmi_emulates())
    return;
  is_chosen = true;
  if (!nvmi_emulation_choose(wish, fault, sizeof fault))
    return;
  const char *failed = nvmi_emulation_begin();
  if (failed)
    nvmi_tell("nvmove: NVMOVE_EMULATE: %s; nothing is charged\n", failed);
  else
    nvmi_charge_calibrate();
}

const struct nvmi_persist *nvmi_media(const struct nvmi_persist *wanted,
                                      uint64_t (*line_at)(const void *address)) {
  static struct nvmi_persist emulated = {
      .stream = stream, .append = append, .flush = flush, .fence = fence, .store_line = store_line};
  static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_DESCRIBED];
  const char *wish = nvmi_setting("NVMOVE_EMULATE");
  if (!wish)
    return wanted;
  nvmi_lock(lock);
  choose(wish);
  if (nvmi_charges && !real) {
    emulated.name = wanted->name;
    number_of = line_at;
    real = wanted;
  }
  nvmi_unlock(lock);
  return nvmi_charges ? &emulated : wanted;
}

void nvmi_media_tell_unused(const char *path) {
  static atomic_bool is_told;
  if (nvmi_setting("NVMOVE_EMULATE") && !atomic_exchange(&is_told, true))
    nvmi_tell(
        "nvmove: %s: NVMOVE_EMULATE charges only pools of the domain power, and this is none; "
        "NVMOVE_DOMAIN=power chooses it\n",
        path);
}

/* Behind the close of the pools that are open at the end. */
__attribute__((destructor(101))) static void tell(void) {
  if (!real || !nvmi_setting_is("NVMOVE_STATS", "1"))
    return;
  const struct nvmi_charged *sum = nvmi_charged_sum();
  nvmi_tell("nvmove: emulated %s, of pools: %llu fences, %llu lines flushed, %llu streamed\n",
            nvmi_emulated.name, (unsigned long long)sum->pool_fences,
            (unsigned long long)sum->pool_flushes, (unsigned long long)sum->pool_streams);
  if (sum->loads)
    nvmi_tell("nvmove: model %s: %llu loads of %llu lines of pools, %llu found in the cache\n",
              nvmi_emulated.model == NVMI_CACHED ? "cached" : "worst",
              (unsigned long long)sum->loads, (unsigned long long)sum->lines_loaded,
              (unsigned long long)sum->hits);
  nvmi_spent_tell(sum);
}
