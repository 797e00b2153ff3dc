/* barrier.c: see barrier.h. */
#define _GNU_SOURCE
#include "core/barrier.h"

#include "core/tracing.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool membarrier_all(int command) { return syscall(SYS_membarrier, command, 0, 0) == 0; }

bool nvmi_barrier_prepare(void) {
  return membarrier_all(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

bool nvmi_barrier_in_all_threads(void) {
  bool done = membarrier_all(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
  if (done)
    nvmi_trace_alone(NVM_TRACE_FENCE, 1);
  return done;
}

void nvmi_fence_all_threads(const struct nvm_pool *pool) {
  nvmi_barrier_in_all_threads();
  if (pool->persist->fence_all)
    pool->persist->fence_all(pool->home);
}
