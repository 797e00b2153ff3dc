/* port.h: the pool of a program that a port file moved (docs/reference/port-file.md).
 *
 * Port: the program's one pool, named by NVMOVE_POOL; without it the program is what it was. Root:
 * a global variable, or a part of one, from which the data are reached; the pool keeps a copy of
 * its value, in a list that starts at the pool's root. Start: what the program does before it
 * loads. On a fresh pool what it allocates meanwhile is one open transaction, which the end of the
 * load commits with the roots. Attach: at the load, when the pool has the roots: they show the
 * pool's values, nothing is loaded. What such a start allocated stays in DRAM and is forgotten, as
 * the pool may be full; only its volatile fields are taken over.
 *
 * End: the program takes the data apart before it ends. What a thread stores from its entry of a
 * function of `end` on is one open transaction that nobody commits, so that the pool keeps the data.
 *
 * Threads: whoever starts the pool also loads, before other threads use it, and from then on is the
 * one whose commits look for roots that changed. Roots that several threads change are placed
 * (roots.h).
 */
#pragma once

#include "core/root_hooks.h"

/* The pool for an allocation; null: there is none, it is not attached yet, or this is a forked
 * child. Started if need be:
 * what is wrong with the file ends the process, status 1. */
struct nvm_pool *nvmi_port_pool(void);
/* Whether the thread, which is the calling one, or another where this one saves the roots, has entered a function of `end`: what it has open
 * stays so. Whether a thread has: roots are as that left them. */
bool nvmi_port_has_ended(const struct nvmi_thread *thread);
bool nvmi_port_is_ended(void);
bool nvmi_port_owns(const struct nvm_pool *pool);
/* An allocator of the port gave this block of DRAM, null, too; where the pool has the data already
 * but is not attached, it stands for one that a fresh pool would have got. */
void nvmi_port_gave(void *block);

/* Says once that this forked child keeps nothing: it stored, and is about to commit. */
void nvmi_port_says_child(const struct nvm_pool *pool);

/* What the compiler says of the port file (plugin/porting/Port.cpp); missing where no object had it. The
 * functions of `load`, "'a' or 'b'". */
extern const char __nvm_load_names[] __attribute__((weak));
/* In the object of `main`, if that is not the source that `program` names: what to say if no source
 * of the program is, and a byte in the object of the one that is; null: there is none. */
extern const struct nvmi_port_main {
  const char *message;
  const char *program;
} __nvm_port_main __attribute__((weak));
