/* info.h: what a pool says of itself: what it promises, what it did, whether it is whole. Part of
 * nvmove.h.
 */
#ifndef NVMOVE_INFO_H
#define NVMOVE_INFO_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nvm_pool NVM_POOL;

/* What survives a crash in this pool. */
enum nvm_domain {
  NVM_DOMAIN_PROCESS =
      1,                /* the death of the process, not of the machine: the page cache holds it */
  NVM_DOMAIN_POWER = 2, /* a power failure: persistent memory, or forced by NVMOVE_DOMAIN=power */
  NVM_DOMAIN_DISK = 3   /* the same on an ordinary disk: all files that lie elsewhere */
};

#define NVM_SYNC_NEVER UINT32_MAX

struct nvm_info {
  const char *path;
  const char *method; /* "undo", "shadow", "lat" or "latb" */
  enum nvm_domain domain;
  uint64_t size;          /* bytes of the file, now */
  uint64_t size_max;      /* bytes to which it may grow */
  uint64_t generation;    /* openings so far */
  uint64_t unclean_opens; /* those that had to recover */
  uint64_t recovered_undone,
      recovered_redone; /* log entries that this opening rolled back, replayed */
  /* Domain disk: 0: a commit returns when it is durable; else when its record is in the page cache, and a
   * sync begins so many milliseconds later at most; NVM_SYNC_NEVER: when the kernel likes
   * (NVMOVE_DURABLE). */
  uint32_t sync_ms;
};
/* NVM_EARGUMENT alone. Strings are valid until the pool is closed. */
int nvm_pool_info(NVM_POOL *pool, struct nvm_info *info);

/* Waits until all commits of the pool that have returned, in any thread, survive what its domain says. At
 * once where each commit has waited for that itself: everywhere but in the domain disk with
 * NVMOVE_DURABLE=MILLISECONDS or never. May be called by any thread, also within a transaction, which it
 * does not commit; not by signal handlers. NVM_EARGUMENT; NVM_ECHILD. A disk that fails ends the process
 * by the fatal handler, as in a commit. */
int nvm_pool_sync(NVM_POOL *pool);

/* Counts of this pool since it was opened, over all threads (those of running ones a little
 * behind). NVM_EARGUMENT alone. */
struct nvm_stats {
  uint64_t commits; /* transactions that wrote something and committed */
  uint64_t
      implicit_commits; /* of which: stores outside a transaction, committed by the next begin */
  uint64_t aborts;
  uint64_t joined_commits; /* that became part of another's: they waited for each other */
  uint64_t notes;          /* calls that the inline filter did not answer */
  uint64_t log_entries, log_bytes;
  uint64_t flushed_lines, fences;
  uint64_t allocations, frees;
};
int nvm_pool_stats(NVM_POOL *pool, struct nvm_stats *stats);

/* What is allocated, by the tables in the file: transactions that are open do not show. Reads them
 * all, in time proportional to the heap; other threads' commits meanwhile may be counted or not.
 * NVM_EARGUMENT; NVM_ECHILD; NVM_ECORRUPT: the tables; NVM_ENOMEMORY. */
struct nvm_usage {
  uint64_t blocks, bytes; /* allocated; bytes as nvm_usable_size counts them */
  uint64_t heap_bytes;    /* the heap as it is now, without growth; logs and tables included */
  uint64_t touched_bytes; /* of it, up to the last byte that was ever used */
};
int nvm_pool_usage(NVM_POOL *pool, struct nvm_usage *usage);

/* Checks header, logs and heap of a pool that nobody has open, without changing it. Calls `report`
 * with one line for each fault; what the logs of a pool that was not closed may still change, as its
 * root, is none. Gives the number of faults, or -1 when the file could not be
 * checked: NVM_EARGUMENT, EMISSING, EEMPTY, ETRUNCATED, EFOREIGN, EVERSION, ECORRUPT (no header),
 * EREADONLY (it may not even be read), EBUSY, ENOMEMORY, ESYSTEM. */
int nvm_pool_check(const char *path, void (*report)(void *context, const char *line),
                   void *context);

/* The same for an open pool in which no transaction is open, and which no other thread uses, of
 * what is in its file. -1: NVM_EARGUMENT, NVM_ECHILD. */
int nvm_pool_verify(NVM_POOL *pool, void (*report)(void *context, const char *line), void *context);

#ifdef __cplusplus
}
#endif

#endif
