/* nvmove.h: persistent memory for C programs, with the names of Breeze (its section III).
 *
 * A pool is a file mapped at a fixed address: pointers into it are plain pointers and hold after a
 * restart. Compiled with nvmove-cc, every store to a pool is noted before it happens, so what a
 * transaction wrote is in the pool wholly or not at all, whenever the program dies.
 * docs/reference/semantics.md says on one page what is promised and what is not.
 *
 * Functions that return int give 0, or -1 with nvm_errno() set; those that return a pointer give
 * null. All may be called from any thread unless they say otherwise; none from a signal handler.
 * The errors are listed at each function; every one that takes a pool, a path or a place for its
 * answer fails with NVM_EARGUMENT where that is null.
 */
#ifndef NVMOVE_NVMOVE_H
#define NVMOVE_NVMOVE_H

#include "nvmove/error.h"
#include "nvmove/info.h"
#include "nvmove/marks.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The number under which the pool keeps blocks of `type`: nvmove-cc folds it to the identity of the
 * record's layout, without it the name alone is hashed. Positive; 0 stands for "untyped". */
#define NVM_TYPE_ID(type) __nvm_type_id(#type, (const type *)0)
uint64_t __nvm_type_id(const char *name, const void *null);

/* Creates the file `path`, `size` bytes all of which are allocated on the disk now, and opens it.
 * The pool grows by itself, to 4 times `size` or 1 GiB at least, when what it holds asks for it. It
 * is durable on return; nothing is left behind on failure. NVM_EARGUMENT: less than 1 MiB, a path
 * that is too long, a setting (docs/reference/settings.md) that makes no sense; NVM_ETOOLARGE:
 * more than 64 GiB; NVM_EEXISTS; NVM_EMISSING: no such folder; NVM_EREADONLY: one that may not be
 * written; NVM_ENOSPACE; NVM_EADDRESS; NVM_ELIMIT: 64 pools are open; NVM_ENOMEMORY; NVM_ESYSTEM.
 */
NVM_POOL *nvm_pool_create(const char *path, size_t size);

/* Opens a pool and, when it was not closed, recovers it: what had not committed is undone, what had
 * is there. Repeating an interrupted open is safe. Never gives a half-open pool: NVM_EARGUMENT
 * (path or setting), EMISSING, EEMPTY, ETRUNCATED, EFOREIGN, EVERSION, ECORRUPT, EREADONLY, EBUSY,
 * EADDRESS, ELIMIT, ENOMEMORY, ESYSTEM; NVM_ELAYOUT: a type of the program is laid out otherwise
 * than the pool's blocks of it; NVM_ESTATIC: the pool points to functions or static data that the
 * program does not have. */
NVM_POOL *nvm_pool_open(const char *path);

/* The same at an address of the caller's, a multiple of the pool's span (nvm_info.size_max) within
 * the reserved range (nvmove/abi.h), NVM_EARGUMENT; null: where the pool's pointers hold, or if
 * that is taken somewhere else. A pool that comes to lie elsewhere is moved: every pointer in it is
 * carried over, in time proportional to what is allocated, by the threads of NVMOVE_THREADS (else
 * the processors); interrupted, the next opening goes on, wherever that puts it. NVM_EADDRESS: the
 * addresses are taken, or a word may be a pointer or a number (the message names it): the pool is
 * as it was. NVMOVE_BASE=ADDRESS is the same for programs that call nvm_pool_open. */
NVM_POOL *nvm_pool_open_at(const char *path, const void *base);

/* The same for a tool that looks at the pool of another program: pointers to that program's
 * functions and static data are left as they are, and mean nothing here. */
NVM_POOL *nvm_pool_open_foreign(const char *path);

/* Commits what the calling thread wrote outside transactions, makes everything durable and unmaps
 * the pool: pointers into it are dead from here on. No other thread may use the pool any more; other
 * threads may use other pools. What another thread has written outside transactions only that thread
 * commits (docs/reference/semantics.md, promise 9); it is waited for, a second at most, and a thread
 * that ends 10 seconds. NVM_EARGUMENT: it is not open, or was closed already. The pool stays open on
 * failure. NVM_EOPENTX: a thread, which the failure names, has a transaction open with something
 * written to the pool, or has written outside transactions and not committed. As nvm_tx_commit: what
 * this thread wrote outside transactions could not be committed and is undone; NVM_EBROKEN also: it
 * was undone before. Closing again succeeds then. Pools left open are closed at exit. A forked child
 * gives up its view, whatever is open. */
int nvm_pool_close(NVM_POOL *pool);

/* From now on references are counted in this pool (Breeze, section IV.F): pointers in its blocks,
 * and the root, that lead to or into a block; not those of NVM_WEAK_PTR fields. Counted once by
 * looking at all blocks, then from what transactions change, in a thread of the pool's. Stays so at
 * later openings. No transaction is open (NVM_EOPENTX; NVM_ECHILD). Takes 5 MiB of the pool, and an
 * eighth of what is pointed to. NVM_ENOSPACE, NVM_ENOMEMORY; NVM_EUNSAFE: a field made of two
 * pointers (NVM_XOR_PTR) cannot be followed: nothing will be freed. A commit may have to wait until
 * earlier ones are counted. */
int nvm_pool_count_references(NVM_POOL *pool);

/* Frees every block to which no counted reference leads, and then those to which only these led;
 * weak pointers to them become null first. The count knows nothing of addresses in DRAM: calling
 * this says that no variable and no register of any thread holds the address of a block that no
 * pointer in the pool leads to. Closing a counted pool does the same, unless the calling thread has
 * something open in another pool. No transaction is open, no other thread uses the pool
 * (NVM_EOPENTX). Takes time proportional to what is freed; to all blocks when weak pointers lead to them, after a crash, and after a transaction of more than 65,534
 * changed pointers. Cycles stay: weak pointers break them, nvm_pool_collect frees them. `blocks`
 * (may be null): how many. NVM_EARGUMENT: the pool does not count; NVM_EUNSAFE as above;
 * NVM_ECHILD, NVM_ENOMEMORY. A crash meanwhile leaves some for the next time. */
int nvm_pool_release(NVM_POOL *pool, uint64_t *blocks);

/* The pool that a ported program attached or filled at its load (docs/reference/port-file.md);
 * null: not yet, or it runs without. It stays the library's, which closes it at exit;
 * nvm_pool_close gives NVM_EARGUMENT. Never fails. */
NVM_POOL *nvm_pool_attached(void);

/* The root: the pointer from which everything in the pool is found. Null in a new pool, or without
 * a pool. Setting it is a store like any other, part of the transaction. `root` is null or lies in
 * the pool (NVM_EUNSAFE). */
int nvm_pool_set_root(NVM_POOL *pool, void *root);
void *nvm_pool_root(NVM_POOL *pool);

/* The pool that holds `address`, or null. Never fails. */
NVM_POOL *nvm_pool_of(const void *address);

/* A block of at least `size` bytes, aligned to 16 (to 64 from 64 bytes on), with contents
 * unspecified, for `type` = NVM_TYPE_ID(T) or 0: one T with the elements of its flexible array, or
 * else an array of T. (Of a T that ends in an array of one element, more elements are taken for
 * further Ts: declare the array without a length.) Part of the transaction: durable with it, and a
 * block whose transaction does not commit was never allocated. NVM_EARGUMENT: size 0;
 * NVM_ETOOLARGE: no state of the pool could hold it; NVM_ENOMEMORY: the pool is full, or DRAM;
 * NVM_ENOSPACE: the disk is; NVM_ELIMIT: the pool has 1,023 types already, or 1,024 threads write;
 * NVM_ECHILD; NVM_ECORRUPT: the heap's tables, or a log's segment; NVM_ESYSTEM. */
void *nvm_alloc(NVM_POOL *pool, uint64_t type, size_t size);
/* The same for `count` elements, with all bytes zero. */
void *nvm_calloc(NVM_POOL *pool, uint64_t type, size_t count, size_t size);
/* Moves the block at `address` (null: allocates) to one of `size` bytes, or keeps it when it fits.
 * The type stays. Part of the transaction, as an allocation, a copy and a free: if it does not
 * commit the old block is there, as it was. On failure the block is untouched: errors of nvm_alloc
 * and nvm_free; NVM_EPOINTER: it is a block of another pool. */
void *nvm_realloc(NVM_POOL *pool, void *address, size_t size);
/* Frees the block when the transaction commits; until then nobody gets it. Null is allowed.
 * NVM_EPOINTER: no block starts there; NVM_EDOUBLEFREE; NVM_ECHILD; for a thread's first change of
 * the pool NVM_ELIMIT, NVM_ENOMEMORY, NVM_ENOSPACE, NVM_ECORRUPT, NVM_ESYSTEM. */
int nvm_free(void *address);
/* The bytes that may be used at `address`; 0 on failure: NVM_EPOINTER: no block, free or not,
 * starts there; NVM_ECORRUPT, NVM_ENOMEMORY; NVM_ECHILD, where the parent had not read the heap's
 * tables. It does not tell whether the block was freed. */
size_t nvm_usable_size(const void *address);

/* Transactions belong to the calling thread and nest flatly: only the outermost commit commits, an
 * inner abort undoes everything at once and makes the outer commit fail with NVM_EABORTED. One that
 * writes to several pools commits each of them by itself. Isolation is the program's own: hold the
 * locks that guard the data until commit has returned. Released earlier, they order commits
 * (docs/reference/semantics.md).
 * Begin: first commits what the thread wrote outside transactions; where that fails, as a commit
 * does, it is undone, and no transaction is open. */
int nvm_tx_begin(NVM_POOL *pool);
/* Durable on return, to the domain of nvm_pool_info. NVM_ENOTX: nothing was begun. All others: the
 * transaction has ended and was undone. NVM_EABORTED; NVM_EUNSAFE: a pointer out of the pool;
 * NVM_ENOSPACE, NVM_ENOMEMORY: no room for its record, in the pool, on the disk or in DRAM;
 * NVM_ELIMIT: static data with a name of more than 16 KiB; NVM_EBROKEN: undone with that of another
 * thread, whose lock it had taken over; NVM_EDEADLOCK: it waited for the transaction of a thread
 * that waits for a lock of this thread, or of one whose commit waits as well. NVM_ECHILD: nothing
 * is undone either, a forked child's memory is its own. */
int nvm_tx_commit(NVM_POOL *pool);
/* Undoes all since the outermost begin, allocations too; in a forked child nothing. NVM_ENOTX. */
int nvm_tx_abort(NVM_POOL *pool);

/* The address of the first byte of the pool's file in this process: pointers minus this are offsets
 * in the file. Null without a pool. */
const void *nvm_pool_base(NVM_POOL *pool);

/* Called when a store cannot be made failure-atomic (no room for its log entry): there is no caller
 * to return an error to. The handler may longjmp to where it calls nvm_tx_abort; when it returns,
 * or by default, the message is printed and the process aborted, which leaves the pool intact. */
void nvm_set_fatal_handler(void (*handler)(enum nvm_error code, const char *message));

#ifdef __cplusplus
}
#endif

#endif
