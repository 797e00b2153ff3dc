/* spend.c: see spend.h. */
#define _GNU_SOURCE
#include "emulation/spend.h"

#include "base/settings.h"
#include "emulation/by_types.h"
#include "emulation/cache.h"
#include "platform/persist.h"

#include <link.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
  INTERRUPTED = 2000, /* nanoseconds: a wait that ends so late was interrupted */
  USAGE_STATUS = 2
};
enum { LINE_TRANSFER = 64000 }; /* nanoseconds for a line at 1 MB/s */

struct nvmi_profile nvmi_emulated;
atomic_bool nvmi_charges;
_Thread_local struct nvmi_charged *nvmi_charged_own __attribute__((tls_model("initial-exec")));

static int64_t interrupted_ticks;
static _Atomic(struct nvmi_charged *) all;

static pthread_key_t ends; /* of threads */
static atomic_bool has_ends;

/* What it has not paid yet, and what its cache has, is its own. */
static void give_back(void *given) {
  struct nvmi_charged *me = given;
  nvmi_charged_own = NULL;
  me->late = 0;
  me->unfenced_flushes = me->unfenced_streams = 0;
  me->inside = false;
  me->stack_end = 0;
  me->owes = false;
  memset(me->recent, 0, sizeof me->recent);
  memset(&me->pending, 0, sizeof me->pending);
  atomic_store_explicit(&me->is_owned, false, memory_order_release);
}

/* Of a program or library: where it has this thread's variables, if that is between stack and stack_end. */
static int leave_out(struct dl_phdr_info *module, size_t size, void *charged) {
  struct nvmi_charged *me = charged;
  uintptr_t variables = (uintptr_t)module->dlpi_tls_data,
            frame = (uintptr_t)__builtin_frame_address(0);
  (void)size;
  if (variables > frame && variables < me->stack_end)
    me->stack_end = variables;
  return 0;
}

/* The C library has a thread's own data at the end of its stack, and thread-local variables before that. Asked of
 * nobody who might allocate: that may be what is charged. */
extern void *__libc_stack_end __attribute__((weak));
static void find_stack(struct nvmi_charged *me) {
  bool is_first = syscall(SYS_gettid) == getpid();
  const void *end =
      is_first ? (&__libc_stack_end ? __libc_stack_end : NULL) : (void *)pthread_self();
  me->stack_end = (uintptr_t)end;
  if (!is_first)
    dl_iterate_phdr(leave_out, me);
}

static struct nvmi_charged *take_over(void) {
  for (struct nvmi_charged *each = atomic_load(&all); each; each = each->next)
    if (!atomic_load_explicit(&each->is_owned, memory_order_relaxed) &&
        !atomic_exchange_explicit(&each->is_owned, true, memory_order_acquire))
      return each;
  return NULL;
}

struct nvmi_charged *nvmi_charged_make(void) {
  struct nvmi_charged *made = take_over();
  if (made) {
    nvmi_charged_own = made;
    if (has_ends)
      pthread_setspecific(ends, made);
    find_stack(made);
    return made;
  }
  made = nvmi_dram_reserve(sizeof *made);
  if (!made) {
    nvmi_tell("nvmove: emulation: out of memory for the counts of a thread\n");
    _exit(USAGE_STATUS);
  }
  made->is_owned = true;
  made->next = atomic_load(&all);
  while (!atomic_compare_exchange_weak(&all, &made->next, made))
    continue;
  nvmi_charged_own = made;
  if (has_ends)
    pthread_setspecific(ends, made);
  find_stack(made);
  return made;
}

const struct nvmi_charged *nvmi_charged_next(const struct nvmi_charged *last) {
  return last ? last->next : atomic_load(&all);
}

void nvmi_charged_clear(struct nvmi_charged *me) {
  struct nvmi_charged *next = me->next;
  uintptr_t stack_end = me->stack_end;
  memset(me, 0, sizeof *me);
  me->next = next;
  me->is_owned = true;
  me->stack_end = stack_end;
}

/* On no stack: that may be small. */
const struct nvmi_charged *nvmi_charged_sum(void) {
  static struct nvmi_charged sum;
  nvmi_charged_clear(&sum);
  for (struct nvmi_charged *each = all; each; each = each->next) {
    sum.loads += each->loads;
    sum.lines_loaded += each->lines_loaded;
    sum.stores += each->stores;
    sum.lines_stored += each->lines_stored;
    sum.hits += each->hits;
    sum.flushes += each->flushes;
    sum.commits += each->commits;
    sum.dropped += each->dropped;
    sum.unchanged += each->unchanged;
    sum.pool_flushes += each->pool_flushes;
    sum.pool_streams += each->pool_streams;
    sum.pool_fences += each->pool_fences;
    sum.interrupted += each->interrupted;
    sum.asked += each->asked;
    sum.waited += each->waited;
  }
  return &sum;
}

/* A child of fork has one thread, and begins to count. */
static void forget(void) {
  all = NULL;
  if (nvmi_charged_own) {
    nvmi_charged_own->next = NULL;
    nvmi_charged_clear(nvmi_charged_own);
    all = nvmi_charged_own;
  }
}

bool nvmi_is_paid(struct nvmi_charged *me, uint64_t nanoseconds) {
  int64_t wanted = (int64_t)nvmi_clock_ticks(nanoseconds);
  if (!nanoseconds || me->late < wanted)
    return false;
  me->late -= wanted - (int64_t)nvmi_clock.unwaited;
  nvmi_local_add(&me->asked, nanoseconds);
  nvmi_local_add(&me->waited, nvmi_clock.unwaited);
  return true;
}

uint64_t nvmi_spend(struct nvmi_charged *me, uint64_t start, uint64_t nanoseconds) {
  nvmi_local_add(&me->asked, nanoseconds);
  if (nvmi_emulated.is_virtual || !nanoseconds)
    return nanoseconds;
  uint64_t wanted = nvmi_clock_ticks(nanoseconds);
  int64_t left = (int64_t)wanted - me->late - (int64_t)nvmi_clock.overhead;
  uint64_t now = nvmi_clock_now();
  while ((int64_t)(now - start) < left)
    now = nvmi_clock_now();
  int64_t late = (int64_t)(now - start) - left;
  bool is_interrupted = late > interrupted_ticks;
  me->interrupted += is_interrupted;
  me->late = is_interrupted ? 0 : late;
  nvmi_local_add(&me->waited, is_interrupted ? wanted : now - start + nvmi_clock.overhead);
  return nanoseconds;
}

/* By whole numbers: the program's floating-point flags stay as they are. */
uint64_t nvmi_transfer(uint64_t time, uint64_t lines) {
  uint64_t bandwidth = nvmi_emulated.bandwidth;
  uint64_t least = bandwidth ? lines * LINE_TRANSFER / bandwidth : 0;
  return time > least ? time : least;
}

static bool costs_something(void) {
  const struct nvmi_profile *p = &nvmi_emulated;
  return p->read || p->write || p->clwb || p->commit || p->bandwidth;
}

void nvmi_spent_tell(const struct nvmi_charged *sum) {
  double asked = (double)sum->asked, waited = (double)sum->waited / nvmi_clock.ticks;
  if (nvmi_emulated.is_virtual)
    nvmi_tell("nvmove: charged %.0f ns, virtual: nobody waited\n", asked);
  else
    nvmi_tell("nvmove: charged %.0f ns; the waits took %+.2f %%; %llu were interrupted\n", asked,
              asked > 0 ? 100 * (waited - asked) / asked : 0.0,
              (unsigned long long)sum->interrupted);
}

bool nvmi_emulation_choose(const char *text, char *fault, unsigned size) {
  return nvmi_profile_read(text, &nvmi_emulated, fault, size);
}

const char *nvmi_emulation_begin(void) {
  const struct nvmi_profile *p = &nvmi_emulated;
  if (!costs_something() && !nvmi_by_types_wanted && !nvmi_setting_is("NVMOVE_STATS", "1"))
    return NULL;
  const char *fault = p->is_virtual ? NULL : nvmi_clock_calibrate();
  if (fault)
    return fault;
  interrupted_ticks = (int64_t)nvmi_clock_ticks(INTERRUPTED);
  if (p->model == NVMI_CACHED && !nvmi_cache_make(p->cache))
    return "out of memory for the modelled cache";
  has_ends = pthread_key_create(&ends, give_back) == 0;
  pthread_atfork(NULL, NULL, forget);
  nvmi_charges = true;
  return NULL;
}
