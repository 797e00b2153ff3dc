/* own_locks.h: the runtime's own locks, past those of the program (interpose/locks.c).
 *
 * Fork brings all of them over: it takes them beforehand, in the order of their ranks, and both
 * processes find them free, and whole what they guard. So each lock of the runtime is one of the
 * table nvmi_locks, or lies in a structure and is added to the list of its rank.
 *
 * Who forks in a signal handler that interrupted the runtime may hold locks, and others may wait
 * for it: it takes those that are free, and its child makes the others anew. What the interrupted
 * code holds it goes on to hold in both.
 */
#pragma once

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* In the order in which a thread takes them; of one rank at most one. */
enum nvmi_rank {
  NVMI_LOCK_STARTING, /* port: the start opens a pool under it */
  NVMI_LOCK_LEAVING,  /* pool: who leaves a pool at exit, or begins to close it */
  NVMI_LOCK_LISTS,    /* this file: locks come and go with pools, under no other lock */
  NVMI_LOCK_MADE,     /* port: objects of roots are reset under it */
  NVMI_LOCK_THREADS,  /* core: a thread that ends commits under it */
  /* tx: others are to finish what they are at, for which they may need those below. Who has it only
   * tries the next one (undoing.c). */
  NVMI_LOCK_QUIESCE,
  NVMI_LOCK_ORDER,   /* order: undoing needs a log under it, and commits */
  NVMI_LOCK_STATICS, /* symbols: makes entries in the heap under it */
  /* struct nvm_pool: logs, types, header. Who makes the second log waits under it for commits of the first
   * (log.c, become_several), which take what follows. */
  NVMI_LOCK_POOL,
  NVMI_LOCK_NUMBERING, /* struct nvm_pool: a record under it may need a longer log */
  NVMI_LOCK_COUNT,  /* struct nvmi_counts: quiesce.c takes it between the pool's and the heap's */
  NVMI_LOCK_APPEND, /* struct nvmi_counts: a new table comes from the heap */
  NVMI_LOCK_HEAP,   /* struct nvmi_heap */
  NVMI_LOCK_CHECKPOINT, /* struct nvm_pool: who raises the bound */
  NVMI_LOCK_HUNT,       /* gc: blocks that threads hand each other */
  NVMI_LOCK_DESCRIBED,  /* types: layouts of libraries */
  NVMI_LOCK_MODULES,    /* below, nvmi_each_module */
  NVMI_LOCK_MAP,        /* core: the table of pools */
  NVMI_LOCK_HANDED,     /* core: values that open transactions have handed over (handed.h) */
  NVMI_LOCK_FILES, /* base: descriptors and mappings that a child shall not have (own_files.h) */
  NVMI_LOCK_SYNC,  /* platform: who brings a file to the disk */
  NVMI_LOCK_TRACE, /* trace: whoever flushes has it, whatever else is held */
  NVMI_RANKS
};

struct nvmi_mutex {
  pthread_mutex_t mutex;
  const void *_Atomic owner; /* an address that only this thread has */
  struct nvmi_mutex *next;   /* of the same rank */
  enum nvmi_rank rank;       /* of one in a structure */
  bool for_fork;             /* its owner has it to fork */
  unsigned char again;       /* so often more its owner, who forks, has locked it */
};

/* One of each rank; the list of those in structures begins there. */
extern struct nvmi_mutex nvmi_locks[NVMI_RANKS];

/* Of a structure that comes or goes. Once it is removed nobody else looks at the structure. */
void nvmi_mutex_add(struct nvmi_mutex *lock, enum nvmi_rank rank);
void nvmi_mutex_remove(struct nvmi_mutex *lock);

/* The runtime's own: they order nothing among transactions. Signals wait while a thread has one:
 *
 *   before QUIESCE, and ORDER   they do not wait: a handler that stores takes only locks behind these, and who
 *                               shuts a gate (core/gate.h) waits for none of these; order.h has its own way
 *   HEAP to SYNC                always: handlers may need a longer log, load, close a file or sync wherever
 *                               they come
 *   the others                  where the thread is not at work (core/thread.h, `busy`): only there a handler
 *                               that stores takes them, or waits at a gate whose thread may wait for this one
 */
void nvmi_lock(struct nvmi_mutex *lock);
void nvmi_unlock(struct nvmi_mutex *lock);
bool nvmi_try_lock(struct nvmi_mutex *lock);       /* true: it is locked */
bool nvmi_has_lock(const struct nvmi_mutex *lock); /* the calling thread */
bool nvmi_has_locks(void);                         /* any, or it waits for one */
/* So long at most. */
void nvmi_wait(pthread_cond_t *condition, struct nvmi_mutex *lock, unsigned ms);

/* Around fork, by its handlers. Signals wait meanwhile: a handler that stores would wait at a gate
 * whose thread wants one of these locks. `at_work`: the thread forks in a handler that interrupted
 * the runtime, and others may wait for it (core/thread.h, `busy`). Gives whether it has all locks. */
bool nvmi_locks_before_fork(bool at_work);
void nvmi_locks_after_fork(bool in_child);

/* dl_iterate_phdr, not while another thread forks: the child would find the loader's lock held. The
 * visitor takes no lock. */
struct dl_phdr_info;
void nvmi_each_module(int (*visit)(struct dl_phdr_info *info, size_t size, void *context),
                      void *context);

/* Says once, on stderr, if locks are not seen: locks.c is not linked, or shared libraries do not
 * find it. */
void nvmi_locks_look(void);
__attribute__((weak)) void nvmi_locks_check(void);

/* Whether the calling thread is at work (core/thread.h); null where no pools are. */
__attribute__((weak)) bool nvmi_at_work(void);

/* The C library's, behind those that locks.c defines; null where it is not linked. */
__attribute__((weak)) int nvmi_real_lock(pthread_mutex_t *mutex);
__attribute__((weak)) int nvmi_real_try_lock(pthread_mutex_t *mutex);
__attribute__((weak)) int nvmi_real_unlock(pthread_mutex_t *mutex);
__attribute__((weak)) int nvmi_real_wait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                         const struct timespec *until); /* CLOCK_MONOTONIC */
__attribute__((weak)) int nvmi_real_post(void *semaphore);              /* sem_t */
