/* roots.h: what the parts of roots.c share.
 *
 * A root is copied, or placed: then the program reaches it by a pointer (`place`, plugin/Placed.h),
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

/* The pool's value of a root; null: it has none, or one of another type. */
char *nvmi_root_value(struct nvm_pool *pool, const struct nvm_root *root);
/* The root of which a copy is kept and which has the byte; null: none. */
const char *nvmi_root_around(const void *address);
/* What to do about such a root that should not be a copy. */
const char *nvmi_root_advice(const char *name);
/* As compiled code would store it. */
void nvmi_root_store(void *to, const void *from, size_t size);

/* forgotten.c: tells of variables of the program that lead into the pool and are no roots; */
void nvmi_forgotten_look(struct nvm_pool *pool);
/* and of those that the load has changed, if NVMOVE_DEBUG asks for it. */
void nvmi_forgotten_load_begins(void);
void nvmi_forgotten_load_ends(const struct nvm_pool *pool);

/* The volatile fields of one object go to another. */
void nvmi_reset_object(const struct nvm_type *type, const char *from, char *to);

/* Of a word that is noted: an address of a placed root's memory in the program becomes that of its
 * block in the pool; `tag`: bits that are no address. False: it is none. */
bool nvmi_root_correct(struct nvm_pool *pool, uint64_t offset, uint64_t tag);
/* From now on the program finds the placed root at `value`, with its own volatile fields. */
void nvmi_root_move(struct nvm_pool *pool, const struct nvm_root *root, char *value);
