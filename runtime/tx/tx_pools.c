/* tx_pools.c: a transaction that wrote to several pools (tx.h). */
#include "tx/pointers.h"
#include "tx/tx.h"

#include "core/lines.h"
#include "types/types.h"

const struct nvmi_line *nvmi_tx_lines_of(struct nvmi_thread *thread, const struct nvm_pool *pool,
                                         size_t all, size_t *count) {
  if (!nvmi_array_reserve(&thread->lines, 2 * all, sizeof(struct nvmi_line)))
    nvmi_fatal(NVM_ENOMEMORY, NULL, "out of memory for the list of touched lines");
  struct nvmi_line *lines = thread->lines.items, *own = lines + all;
  *count = 0;
  for (size_t i = 0; i < all; i++)
    if (nvmi_pool_at((void *)(nvmi_line_first(&lines[i]) << 6)) == pool)
      own[(*count)++] = lines[i];
  return own;
}

enum nvm_error nvmi_tx_check_all(struct nvmi_thread *thread, uint64_t touched, size_t all) {
  for (; touched; touched &= touched - 1) {
    struct nvmi_log *log = thread->logs[__builtin_ctzll(touched)];
    size_t count;
    const struct nvmi_line *lines = nvmi_tx_lines_of(thread, log->pool, all, &count);
    enum nvm_error error =
        log->pool->check_pointers ? nvmi_check_pointers(log, lines, count) : NVM_OK;
    if (error)
      return error;
  }
  return NVM_OK;
}
