/* gate.c: see gate.h. */
#include "core/gate.h"

#include "base/pause.h"
#include "core/barrier.h"
#include "core/map.h"
#include "core/thread.h"

union nvmi_slow nvmi_slow;

static bool is_shut(uint64_t pools) {
  bool shut = nvmi_all_stand();
  for (uint64_t left = pools; left; left &= left - 1) {
    const struct nvm_pool *pool = nvmi_pool_number((unsigned)__builtin_ctzll(left));
    shut |= pool->gate && !pool->forked;
  }
  return shut;
}

void nvmi_gate_enter(struct nvmi_thread *thread, uint64_t pools) {
  while (thread->busy == 1 && is_shut(pools)) {
    thread->busy--;
    nvmi_compiler_barrier();
    for (unsigned tries = 0; is_shut(pools); tries++)
      nvmi_pause(tries);
    thread->busy++;
    nvmi_compiler_barrier();
  }
}

/* Who makes the standstill sees `uses_open`, or is seen here (barrier.h). Its own thread is at work. */
void nvmi_uses_open(struct nvmi_thread *thread) {
  thread->uses_open++;
  nvmi_compiler_barrier();
  while (thread->uses_open == 1 && !thread->busy && nvmi_all_stand()) {
    thread->uses_open--;
    nvmi_compiler_barrier();
    for (unsigned tries = 0; nvmi_all_stand(); tries++)
      nvmi_pause(tries);
    thread->uses_open++;
    nvmi_compiler_barrier();
  }
}

void nvmi_used_open(struct nvmi_thread *thread) {
  nvmi_says_it_rests(thread);
  nvmi_compiler_barrier();
  thread->uses_open--;
}

uint64_t nvmi_gate_enter_touched(struct nvmi_thread *thread, uint64_t more) {
  uint64_t pools;
  do {
    pools = *(volatile uint64_t *)&thread->touched | more;
    nvmi_gate_enter(thread, pools);
  } while (*(volatile uint64_t *)&thread->touched & ~pools);
  return pools;
}
