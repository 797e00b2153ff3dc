/* charge.c: what accesses cost: see emulation.h, profile.h. */
#define _GNU_SOURCE
#include "emulation/charge.h"

#include "base/basics.h"
#include "base/settings.h"
#include "emulation/by_types.h"
#include "emulation/cache.h"
#include "emulation/named.h"
#include "emulation/pending.h"
#include "emulation/spend.h"
#include "platform/persist.h"

#include "nvmove/abi.h"
#include "nvmove/nvmove.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

enum {
  STACK_MAX = 8 << 20,     /* bytes */
  CALIBRATION_ROUNDS = 10, /* short ones: the least is one that nothing interrupted */
  CALIBRATION_WAITS = 100,
  CALIBRATION_WAIT = 200, /* nanoseconds */
  USAGE_STATUS = 2
};

static struct sites {
  unsigned sources, loads, stores, copies, commits;
} sites;
static bool emulates;
static const char *built_with; /* a profile */

bool nvmi_emulates(void) { return emulates; }

static _Noreturn void refuse(const char *setting, const char *fault) {
  nvmi_tell("nvmove: %s: %s\n", setting, fault);
  _exit(USAGE_STATUS);
}

/* The thread's last lines stand before the cache that all share: to look there takes no time that
 * counts. */
static inline bool is_recent(struct nvmi_charged *me, uint64_t line) {
  uint64_t *place = &me->recent[line % NVMI_RECENT];
  if (*place == line)
    return true;
  *place = line;
  return nvmi_cache_touch(line);
}

static uint64_t load_cached(struct nvmi_charged *me, uint64_t line, uint64_t lines) {
  uint64_t missed = 0;
  for (uint64_t i = 0; i < lines; i++)
    missed += !is_recent(me, line + i);
  nvmi_local_add(&me->hits, lines - missed);
  return NVMI_LIKELY(!missed)
             ? 0
             : nvmi_spend(me, nvmi_clock_now(), nvmi_transfer(missed * nvmi_emulated.read, missed));
}

uint64_t nvmi_charge_load(struct nvmi_charged *me, uint64_t start, uint64_t line, uint64_t lines) {
  nvmi_local_add(&me->loads, 1);
  nvmi_local_add(&me->lines_loaded, lines);
  if (nvmi_emulated.model == NVMI_CACHED)
    return load_cached(me, line, lines);
  uint64_t cost = nvmi_transfer(lines * nvmi_emulated.read, lines);
  return start ? nvmi_spend(me, start, cost) : cost;
}

/* When the wait begins; 0: it is over, or there is none. */
static uint64_t begin(struct nvmi_charged *me, uint64_t nanoseconds) {
  bool waits = nvmi_emulated.model == NVMI_WORST && nanoseconds;
  return waits && !nvmi_is_paid(me, nanoseconds) ? nvmi_clock_now() : 0;
}

void nvmi_charge_keep(struct nvmi_charged *me, uint64_t line, uint64_t lines) {
  for (uint64_t i = 0; i < lines; i++)
    is_recent(me, line + i);
}

/* Of this thread, where it runs now: one that is on its way elsewhere (a handler, a coroutine) has no end known. */
static bool is_on_stack(const struct nvmi_charged *me, uintptr_t address) {
  uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
  return address >= frame && address < me->stack_end && me->stack_end - frame <= STACK_MAX;
}

/* Counts by types are found before the wait, which so contains the time for it. */
static inline struct nvm_counted *counts_of(struct nvmi_charged *me, const char *types) {
  return nvmi_by_types_wanted ? nvmi_by_types(&me->types, types) : NULL;
}

/* Whether there is something to charge: no program accesses what goes on from the end of all addresses. */
static inline bool counts(const void *address, size_t size) {
  return NVMI_UNLIKELY(atomic_load_explicit(&nvmi_charges, memory_order_relaxed)) && size &&
         size <= UINTPTR_MAX - (uintptr_t)address;
}

__attribute__((preserve_most)) void __nvm_charge_load(const void *Address, size_t Size,
                                                      const char *Types) {
  if (!counts(Address, Size))
    return;
  struct nvmi_charged *me = nvmi_charged_self();
  uint64_t lines = nvmi_lines_at(Address, Size);
  uint64_t start = begin(me, nvmi_transfer(lines * nvmi_emulated.read, lines));
  struct nvm_counted *by_types = counts_of(me, Types);
  uint64_t spent = nvmi_charge_load(me, start, (uintptr_t)Address >> NVMI_LINE_SHIFT, lines);
  if (by_types) {
    nvmi_local_add(&by_types->loads, 1);
    nvmi_local_add(&by_types->nanoseconds, spent);
  }
}

/* `lasts`: it has to become durable. `change`: as for nvmi_pending_add. */
static void charge_store(const void *address, size_t size, const char *types, bool lasts,
                         const struct nvmi_change *change) {
  struct nvmi_charged *me = nvmi_charged_self();
  uint64_t lines = nvmi_lines_at(address, size);
  uint64_t cost = nvmi_transfer(lines * (nvmi_emulated.write + nvmi_emulated.clwb), lines) +
                  nvmi_emulated.commit;
  uint64_t start = begin(me, cost);
  struct nvm_counted *by_types = counts_of(me, types);
  if (by_types)
    nvmi_local_add(&by_types->stores, 1);
  nvmi_local_add(&me->stores, 1);
  nvmi_local_add(&me->lines_stored, lines);
  if (nvmi_emulated.model == NVMI_CACHED) {
    nvmi_charge_keep(me, (uintptr_t)address >> NVMI_LINE_SHIFT, lines);
    if (lasts && !is_on_stack(me, (uintptr_t)address))
      nvmi_pending_add(me, (uintptr_t)address, size, change);
    return;
  }
  nvmi_local_add(&me->flushes, lines);
  nvmi_local_add(&me->commits, 1);
  if (start)
    nvmi_spend(me, start, cost);
  if (by_types)
    nvmi_local_add(&by_types->nanoseconds, cost);
}

__attribute__((preserve_most)) void __nvm_charge_store(const void *Address, size_t Size,
                                                       const char *Types) {
  if (counts(Address, Size))
    charge_store(Address, Size, Types, true, NULL);
}

__attribute__((preserve_most)) void __nvm_charge_stored(const void *Address, size_t Size,
                                                        const char *Types, uint64_t Before,
                                                        uint64_t Now) {
  if (counts(Address, Size))
    charge_store(Address, Size, Types, true, &(struct nvmi_change){Before, Now});
}

__attribute__((preserve_most)) void __nvm_charge_volatile(const void *Address, size_t Size,
                                                          const char *Types) {
  if (counts(Address, Size))
    charge_store(Address, Size, Types, false, NULL);
}

static bool is_cached(void) {
  return atomic_load_explicit(&nvmi_charges, memory_order_relaxed) &&
         nvmi_emulated.model == NVMI_CACHED;
}

/* Where errors go nobody acknowledges anything. */
void __nvm_charge_output(int Descriptor) {
  if (is_cached() && Descriptor != STDERR_FILENO && (Descriptor >= 0 || Descriptor == INT_MIN))
    nvmi_charged_self()->owes = true;
}

void __nvm_charge_wait(void) {
  struct nvmi_charged *me = is_cached() ? nvmi_charged_self() : NULL;
  if (!me || !me->owes)
    return;
  me->owes = false;
  nvmi_pending_commit(me, nvmi_clock_now());
}

/* The ticks of a call, each with so many of them to its credit. */
static uint64_t call_ticks(int64_t late) {
  static const char place;
  uint64_t least = UINT64_MAX;
  for (int round = 0; round < CALIBRATION_ROUNDS; round++) {
    nvmi_charged_self()->late = late;
    uint64_t begin = nvmi_clock_now();
    for (int i = 0; i < CALIBRATION_WAITS; i++)
      __nvm_charge_load(&place, 1, "");
    uint64_t taken = nvmi_clock_now() - begin;
    least = taken < least ? taken : least;
  }
  return least / CALIBRATION_WAITS;
}

/* What a call costs beside its wait, and without one. */
void nvmi_charge_calibrate(void) {
  if (!nvmi_charges || nvmi_emulated.is_virtual || nvmi_emulated.model != NVMI_WORST)
    return;
  struct nvmi_profile wanted = nvmi_emulated;
  bool by_types = nvmi_by_types_wanted;
  nvmi_by_types_wanted = false;
  nvmi_emulated = (struct nvmi_profile){.read = CALIBRATION_WAIT};
  uint64_t asked = nvmi_clock_ticks(CALIBRATION_WAIT), taken = call_ticks(0);
  nvmi_clock.overhead = taken > asked ? taken - asked : 0;
  nvmi_clock.unwaited = call_ticks(INT64_MAX / 2);
  nvmi_emulated = wanted;
  nvmi_by_types_wanted = by_types;
  nvmi_charged_clear(nvmi_charged_own);
}

static void start(void) {
  const char *fault = nvmi_by_types_begin();
  if (fault)
    refuse("NVMOVE_EMULATE_COUNTS", fault);
  fault = nvmi_emulation_begin();
  if (fault)
    refuse("emulation", fault);
  if (is_cached())
    nvmi_pending_watch();
  nvmi_charge_calibrate();
}

static void tell_counts(void) {
  if (!emulates || !*nvmi_emulated.name || !nvmi_setting_is("NVMOVE_STATS", "1"))
    return;
  const struct nvmi_charged *sum = nvmi_charged_sum();
  nvmi_tell("nvmove: charged at %u loads, %u stores and %u copies of %u sources; commits before %u "
            "outputs\n",
            sites.loads, sites.stores, sites.copies, sites.sources, sites.commits);
  nvmi_tell("nvmove: emulated %s, model %s: %llu loads of %llu lines, %llu stores of %llu lines\n",
            nvmi_emulated.name, nvmi_emulated.model == NVMI_CACHED ? "cached" : "worst",
            (unsigned long long)sum->loads, (unsigned long long)sum->lines_loaded,
            (unsigned long long)sum->stores, (unsigned long long)sum->lines_stored);
  nvmi_tell("nvmove: %llu lines found in the cache, %llu written back, %llu freed before, "
            "%llu unchanged, %llu commits\n",
            (unsigned long long)sum->hits, (unsigned long long)sum->flushes,
            (unsigned long long)sum->dropped, (unsigned long long)sum->unchanged,
            (unsigned long long)sum->commits);
  nvmi_spent_tell(sum);
}

/* Behind the program's own destructors. */
__attribute__((destructor(101))) static void tell(void) {
  nvmi_emulation_tell_unknown();
  tell_counts();
  nvmi_by_types_tell();
}

/* The environment's setting before the one that the program was built with; the first of several. */
void __nvm_emulate(const char *Profile, const char *Types, unsigned Loads, unsigned Stores,
                   unsigned Copies, unsigned Commits) {
  char fault[256];
  emulates = true;
  nvmi_emulation_named(Types);
  sites = (struct sites){sites.sources + 1, sites.loads + Loads, sites.stores + Stores,
                         sites.copies + Copies, sites.commits + Commits};
  const char *wish = nvmi_setting("NVMOVE_EMULATE");
  if (sites.sources == 1 && nvmi_settings_check(NULL)) {
    nvmi_tell("nvmove: %s\n", nvm_strerror());
    _exit(USAGE_STATUS);
  }
  if (sites.sources > 1) {
    if (!wish && strcmp(Profile, built_with) != 0)
      refuse("--emulate",
             "its sources were compiled with different profiles; NVMOVE_EMULATE chooses one");
    return;
  }
  built_with = Profile;
  if (!wish && !*Profile)
    return;
  char both[256];
  if (wish && *Profile && !nvmi_profile_has_memory(wish) &&
      (size_t)snprintf(both, sizeof both, "%s,%s", Profile, wish) < sizeof both)
    wish = both;
  if (!nvmi_emulation_choose(wish ? wish : Profile, fault, sizeof fault))
    refuse(wish ? "NVMOVE_EMULATE" : "--emulate", fault);
  start();
}
