/* follower.h: what takes part in all transactions of a pool, beside the log: pool->follower, null
 * where there is none. It is set while the pool is quiet.
 */
#pragma once

#include "core/pool.h"

struct nvmi_follower {
  /* Before the commit record is made. NVM_OK, or recorded: the transaction must not commit. */
  enum nvm_error (*before_commit)(struct nvmi_log *log, const struct nvmi_line *lines,
                                  size_t count);
  /* It committed, or did not; also where `before_commit` was not asked. That it did not may be told
   * twice: first before the log says that the transaction has ended. */
  void (*ended)(struct nvmi_log *log, bool committed);
  /* Bytes change that no transaction's lines tell of. Allowed in signal handlers. */
  void (*lost_track)(struct nvm_pool *pool);
  /* More layouts of types are known; under the pool's lock. */
  void (*types_changed)(struct nvm_pool *pool);
  /* What it does beside transactions stands still in between; under the pool's lock. */
  void (*pause)(struct nvm_pool *pool);
  void (*go_on)(struct nvm_pool *pool);
};
