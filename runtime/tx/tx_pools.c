/* tx_pools.c: a transaction's lines by pool, and the unsafe pointers among them (tx.h). */
#include "tx/freeze.h"
#include "tx/pointers.h"
#include "tx/tx.h"

#include "core/lines.h"
#include "types/types.h"

/* Of those from `first` on. */
static const struct nvmi_line *lines_of(struct nvmi_thread *thread, const struct nvm_pool *pool,
                                        size_t first, size_t all, size_t *count) {
  if (!nvmi_array_reserve(&thread->lines, 2 * all, sizeof(struct nvmi_line)))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the list of touched lines");
  struct nvmi_line *lines = thread->lines.items, *own = lines + all;
  *count = 0;
  for (size_t i = first; i < all; i++)
    if (nvmi_pool_at((void *)(nvmi_line_first(&lines[i]) << 6)) == pool)
      own[(*count)++] = lines[i];
  return own;
}

const struct nvmi_line *nvmi_tx_lines_of(struct nvmi_thread *thread, const struct nvm_pool *pool,
                                         size_t all, size_t *count) {
  return lines_of(thread, pool, 0, all, count);
}

static enum nvm_error check_from(struct nvmi_thread *thread, uint64_t pools, size_t first,
                                 size_t all) {
  for (; pools; pools &= pools - 1) {
    struct nvmi_log *log = thread->logs[__builtin_ctzll(pools)];
    size_t count;
    const struct nvmi_line *lines = lines_of(thread, log->pool, first, all, &count);
    enum nvm_error error =
        log->pool->check_pointers ? nvmi_check_pointers(log, lines, count) : NVM_OK;
    if (error)
      return error;
  }
  return NVM_OK;
}

enum nvm_error nvmi_tx_check_all(struct nvmi_thread *thread, uint64_t touched, size_t all) {
  return check_from(thread, touched, 0, all);
}

bool nvmi_tx_is_safe(struct nvmi_thread *thread, uint64_t pools, size_t first) {
  thread->busy++;
  nvmi_compiler_barrier();
  nvmi_gate_enter(thread, thread->touched);
  nvmi_tx_collect(thread);
  bool safe = !check_from(thread, pools, first, thread->lines.count);
  nvmi_compiler_barrier();
  thread->busy--;
  return safe;
}
