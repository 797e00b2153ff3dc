/* root_hooks.h: what a port's variables (port/port.h) have to do with transactions, for the rooms
 * below the port. A program without a port does not link that room: all is null there.
 */
#pragma once

#include "core/thread.h"

/* thread->roots: of the thread that loaded, which saves them, and of others. */
struct nvmi_root_events {
  bool saves; /* signals wait from before_commit to the end of the commit: roots have no notes */
  void (*before_commit)(void); /* roots that changed become stores of the transaction */
  void (*after_abort)(void);   /* while the same signals wait */
};

struct nvmi_root_hooks {
  /* Of the thread that loaded, also when it has ended and goes on with the functions that exit calls; else null. */
  const struct nvmi_root_events *(*own)(void);
  /* Whether it is the port's pool, which nobody else closes. */
  bool (*owns)(const struct nvm_pool *pool);
  /* The thread begins to change the pool. */
  void (*join)(struct nvmi_thread *thread, const struct nvm_pool *pool);
  /* Behind the entry of a function of `end`: nobody commits, or undoes, what the thread has open, also when it ends. */
  bool (*has_ended)(const struct nvmi_thread *thread);
  /* A pointer out of the pool is one to a root that has moved: it is set right. */
  bool (*correct)(struct nvm_pool *pool, uint64_t offset, uint64_t tag);
  /* The root that has this byte, null: none; and what to do about a pointer to it. */
  const char *(*around)(const void *address);
  const char *(*advice)(const char *name);
};
extern const struct nvmi_root_hooks *nvmi_root_hooks;

/* At a commit point, while a pool is there and the load is not over; else null. */
extern void (*_Atomic nvmi_port_unloaded)(void);
/* Control comes to a frame by longjmp or an exception, while the load runs; else null. */
extern void (*_Atomic nvmi_port_landed)(const void *frame);
