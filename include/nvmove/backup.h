/* backup.h: a consistent copy of a pool, also of one that a program is writing to.
 *
 * The copy is what a crash at one moment would have left: what had committed then is in it, what
 * was open is undone when it is opened. It has its name once it is whole, checked and on the disk, and
 * the pool's owner, group and mode as far as the caller may give these.
 */
#ifndef NVMOVE_BACKUP_H
#define NVMOVE_BACKUP_H

#include "nvmove/nvmove.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct nvm_backup {
  double seconds_max; /* how long to try; 0: 30 */
  /* Filled in. */
  uint64_t bytes;       /* of the copy */
  uint64_t bytes_twice; /* of which changed while it was being made */
  double pause;         /* seconds in which nobody could write to the pool */
  bool was_open;        /* a process had it open */
};

/* Copies an open pool to the new file `path`. Other threads may use it: those that write wait
 * during the pause. NVM_EEXISTS, NVM_ENOSPACE, NVM_ESYSTEM: no file is left. `backup` may be null.
 */
int nvm_pool_backup(NVM_POOL *pool, const char *path, struct nvm_backup *backup);

/* The same for a pool's file, whether or not a process has it open. That process need not know: the
 * next of its commits waits, or nobody writes. NVM_EBUSY: neither came to pass within seconds_max.
 * If the caller dies, the process goes on. */
int nvm_pool_backup_file(const char *pool_path, const char *path, struct nvm_backup *backup);

#ifdef __cplusplus
}
#endif

#endif
