/* repair.h: mending a pool's file that nobody has open.
 *
 * What the file says twice is put right from the other place: header fields, log segments, the
 * tables of types and of static data, the heap's tables; a checksum of 64 bits tells which byte is
 * wrong where only one is. Nothing that the root leads to is given up for that. What may lose
 * something is done only when it is asked for by name.
 *
 * All is found in a copy in memory. Before the first byte of the file changes, a second file holds
 * every byte that will change, as it was and as it will be. A crash afterwards leaves a pool that
 * cannot be opened before the next repair has finished what this one began.
 */
#ifndef NVMOVE_REPAIR_H
#define NVMOVE_REPAIR_H

#include "nvmove/nvmove.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

enum nvm_repair_news {
  NVM_REPAIR_MENDED, /* put right */
  NVM_REPAIR_LEFT    /* still wrong: the line says why */
};

struct nvm_repair {
  bool dry_run;       /* find out, and change nothing */
  bool tables_only;   /* pointers are not looked at */
  bool drop_log;      /* a log that cannot be read is cut off: what was open when the process died
                         stays half done, and commits not yet in place are lost */
  bool null_dangling; /* pointers that lead nowhere become null; so does what a truncated file lost
                       */
  bool forget_types;  /* blocks of a type whose layout is lost become blocks without type */
  uint64_t root;      /* not 0: file offset of the block that becomes the root, if it has none */
  void (*report)(void *context, enum nvm_repair_news news, const char *line); /* or null */
  void *context;
  /* Filled in: where what was changed is kept. Empty: nothing was. */
  char copy[4096 + 32];
};

/* Mends the pool at `path`. Gives the number of things that are still wrong, 0: none; or -1: it is as
 * it was, nvm_errno() says why. Where the file could be written in part, and then not even that put
 * back (a disk that fails), nvm_strerror() says so: the next repair goes on from `copy`. A repair that
 * a crash interrupted is finished first. */
long long nvm_pool_repair(const char *path, struct nvm_repair *repair);

/* Puts back what a repair changed and kept in `copy`; where it fails, as nvm_pool_repair. NVM_ECORRUPT: `copy` is none, or of another
 * pool, or the pool was used since: nothing was changed. */
int nvm_pool_repair_undo(const char *path, const char *copy);

#ifdef __cplusplus
}
#endif

#endif
