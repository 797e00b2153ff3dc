/* wrap.h: stores and loads of persistent memory by calls: the explicit interface of the SCM paper
 * (Giles, Doshi, Varman: "Persisting In-Memory Databases Using SCM", section III).
 *
 * A program that makes its stores through these functions needs no compiler of its own: gcc or clang
 * with what `pkg-config --cflags --libs nvmove` says (-Wl,-u,__nvmi_locks -lnvmove_admin -lnvmove -lpthread -ldl). It may
 * also be compiled by nvmove-cc.
 *
 *   the paper     here
 *   WrapOpen      nvm_wrap_open
 *   WrapClose     nvm_wrap_close
 *   WrapLoad64    nvm_wrap_load64
 *   WrapStore64   nvm_wrap_store64
 *   WrapRead      nvm_wrap_read
 *   WrapWrite     nvm_wrap_write
 *
 * A wrap is a transaction of nvmove/nvmove.h: all of its stores are in the pool, or none, whenever the
 * program dies. nvm_tx_abort undoes an open wrap. Isolation is the program's own: hold the locks that
 * guard the data until nvm_wrap_close has returned.
 *
 * Rules:
 * - Every store to a pool is made by nvm_wrap_store64 or nvm_wrap_write. A store that a plain compiler
 *   makes is not seen: no abort undoes it, and a crash may leave it alone.
 * - With the methods `lat` and `latb` every load of a pool is made by nvm_wrap_load64 or nvm_wrap_read: a
 *   plain load need not see what the open wrap has stored. With `undo` and `shadow` plain loads see
 *   all. docs/reference/methods.md says which method to use when.
 * - With these two a thread sees what another thread's wrap has stored when that has closed, or when it
 *   has released a lock that libnvmove sees, and the thread has acquired it.
 * - A new block of nvm_alloc is written in the same way. Its contents are unspecified until then.
 *
 * Addresses may have any alignment. An address outside of all pools is allowed: then the function is a
 * plain store or load. The functions may be called from any thread, and not from signal handlers. A
 * store that cannot be made failure-atomic (no room in the pool, on the disk, or in DRAM) calls the
 * handler of nvm_set_fatal_handler. In a forked child stores are not seen, and commits fail.
 */
#ifndef NVMOVE_WRAP_H
#define NVMOVE_WRAP_H

#include "nvmove/nvmove.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a wrap for the calling thread. Wraps nest: one that is opened inside of another belongs to
 * that. 0; -1: as nvm_tx_begin. */
int nvm_wrap_open(NVM_POOL *pool);

/* Closes the wrap that was opened last. The close of the outermost wrap commits, and what the wrap has
 * stored is durable on return; an inner one has no effect on the pool. 0; -1: as nvm_tx_commit. */
int nvm_wrap_close(NVM_POOL *pool);

/* The 8 bytes at `address`, as this thread has stored them last. Never fails. */
uint64_t nvm_wrap_load64(const void *address);

/* Stores the 8 bytes at `address`. Part of the open wrap; outside of wraps, part of what the thread's
 * next nvm_wrap_open commits (docs/reference/semantics.md, promise 9). Durable when that has
 * committed. */
void nvm_wrap_store64(void *address, uint64_t value);

/* Copies `size` bytes at `from` to `to`, as this thread has stored them last; also where they were
 * stored by several calls that overlap. `to` is memory of the caller's, outside of all pools, and does
 * not overlap with `from`. Size 0 is allowed. */
void nvm_wrap_read(void *to, const void *from, size_t size);

/* Stores `size` bytes at `to`, copied from `from`, which is memory of the caller's, outside of all
 * pools; the call keeps no pointer to it. As nvm_wrap_store64 otherwise; a crash leaves all of the
 * bytes or none. Size 0 is allowed. */
void nvm_wrap_write(void *to, const void *from, size_t size);

#ifdef __cplusplus
}
#endif

#endif
