/* roots.h: what the parts of roots.c share.
 *
 * A root is copied, or placed: then the program reaches it by a pointer (`place`, plugin/porting/Placed.h),
 * which leads to the pool from the load on, and no copy is kept.
 */
#pragma once

#include "core/root_hooks.h"

/* Another thread begins to change the pool: it says once that roots change meanwhile, as only the
 * thread that loaded saves them. */
void nvmi_roots_join(struct nvmi_thread *thread, const struct nvm_pool *pool);

/* Pointers to all: those of the program and of libraries. */
extern struct nvmi_array nvmi_all_roots;

#define FOR_EACH_ROOT(root)                                                                        \
  for (const struct nvm_root *const *at_ = nvmi_all_roots.items, *root;                            \
       at_ < (const struct nvm_root *const *)nvmi_all_roots.items + nvmi_all_roots.count &&        \
       ((root = *at_), true);                                                                      \
       at_++)

/* A name that several variables of the program have; null: none. */
const char *nvmi_roots_ambiguous(void);
/* Whether the pool has the roots of a program. */
bool nvmi_roots_present(struct nvm_pool *pool);
/* The pool's values, but for volatile fields, go to the program's roots: to those that have it
 * behind `after`, or, when null, to all. -1: recorded: a root is missing or of another type. */
int nvmi_roots_show(struct nvm_pool *pool, const char *after);
/* Enters all roots and their values into a pool without, in the open transaction. -1: recorded. */
int nvmi_roots_enter(struct nvm_pool *pool);
/* From now on this thread's commits save the roots that changed, its aborts show the old values.
 * -1: out of memory, recorded. */
int nvmi_roots_watch(struct nvm_pool *pool);

/* The pool's value of a root; null: it has none, or one of another type. */
char *nvmi_root_value(struct nvm_pool *pool, const struct nvm_root *root);
/* The root of which a copy is kept and which has the byte; null: none. */
const char *nvmi_root_around(const void *address);
/* What to do about such a root that should not be a copy. */
const char *nvmi_root_advice(const char *name);
/* As compiled code would store it. */
void nvmi_root_store(void *to, const void *from, size_t size);
