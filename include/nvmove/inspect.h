/* inspect.h: what is in a pool, for programs that look at it as a whole.
 *
 * The functions here look at committed data and want the pool quiet: no transaction is open
 * (NVM_EOPENTX) and no other thread uses it; in a forked child they fail (NVM_ECHILD). They take
 * time proportional to what is allocated, with the threads of NVMOVE_THREADS, else the processors.
 */
#ifndef NVMOVE_INSPECT_H
#define NVMOVE_INSPECT_H

#include "nvmove/abi.h"
#include "nvmove/nvmove.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The first eight bytes of every pool file, little-endian. */
#define NVM_POOL_MAGIC UINT64_C(0x4c4f4f504d564e89)

/* Frees every block that cannot be reached from the root (runtime/gc/reach.h says what that means):
 * never one that a declared pointer leads to or into. NVM_EUNSAFE: a field made of
 * two pointers (NVM_XOR_PTR) hides what it leads to; nothing was freed. Pointers that the program
 * has in DRAM to blocks that the root does not lead to are dead afterwards. `collected` may be
 * null. A crash meanwhile leaves some garbage. */
struct nvm_collected {
  uint64_t reachable_blocks, reachable_bytes;
  uint64_t freed_blocks, freed_bytes;
};
int nvm_pool_collect(NVM_POOL *pool, struct nvm_collected *collected);

struct nvm_block {
  const void *address;
  uint64_t offset, size;       /* in the file, bytes */
  const struct nvm_type *type; /* null: without type, or nobody described it */
  bool is_reachable;           /* from the root; true where that is not asked for */
};
/* Calls `visit` for each allocated block until it gives false. `reach`: finds out first what the
 * root leads to; NVM_EUNSAFE as nvm_pool_collect, before any visit. */
int nvm_pool_each_block(NVM_POOL *pool, bool reach,
                        bool (*visit)(void *context, const struct nvm_block *block), void *context);

/* Looks at every pointer whose field is described: does it lead into a block, is it aligned for
 * what it leads to, does it lead out of the pool? Calls `report` (or null) with a line for each
 * fault. Gives the number of faults, -1: the heap is damaged. Pointers in garbage are no faults.
 * Garbage: blocks that the root does not lead to; with NVM_XOR_PTR fields no block counts as
 * garbage. nvm_pool_verify looks at the rest. */
long long nvm_pool_verify_pointers(NVM_POOL *pool, void (*report)(void *context, const char *line),
                                   void *context);

/* The same, with more than the line of each fault; bad pointers in garbage are reported, too, and not
 * counted. Dangling: it leads to a place of the pool at which no block is allocated. */
struct nvm_bad_pointer {
  uint64_t offset;   /* of the pointer, in the file */
  uint64_t leads_to; /* of a dangling one, in the file */
  bool is_dangling;
  bool in_garbage; /* nvm_pool_collect frees the block that has it */
  const char *line;
};
long long nvm_pool_each_bad_pointer(NVM_POOL *pool,
                                    void (*report)(void *context,
                                                   const struct nvm_bad_pointer *bad),
                                    void *context);

/* Makes the file about `size` bytes long: longer by blocks that are allocated on the disk now, or
 * shorter by the free chunks at its end, as far as these go. Right after opening only, before the
 * first store (NVM_EOPENTX). NVM_ETOOLARGE: beyond nvm_info.size_max; NVM_ENOSPACE. A crash leaves
 * the size before or the new one. */
int nvm_pool_resize(NVM_POOL *pool, size_t size);

/* From then on functions that go over a whole pool (these, checks, repairs, backups) say how far
 * they are: `done` of `total`, for each of their passes anew, from any of their threads. Null:
 * nobody listens. To be set while none of them runs. */
void nvm_set_progress(void (*report)(void *context, uint64_t done, uint64_t total), void *context);

/* The pool's own account of itself. Strings are valid until the pool is closed. */
struct nvm_account {
  uint64_t base; /* where pointers lead */
  uint64_t clean_shutdowns, unclean_shutdowns;
  uint64_t heap_bytes, types, statics, logs;
  uint32_t unfinished_moves; /* bases that pointers may still hold for */
  uint8_t id[16], build_id[32];
  bool counts_references;    /* nvm_pool_count_references */
  bool counts_stale;         /* they are to be counted anew before the next is freed */
  uint64_t counts_recovered; /* transactions whose references this opening counted */
};
int nvm_pool_account(NVM_POOL *pool, struct nvm_account *account);

/* What the program that opened the pool file last chose, or was told to choose by NVMOVE_METHOD,
 * NVMOVE_DOMAIN and NVMOVE_DURABLE. nvm_pool_info has the choice of an opening of one's own.
 * `method` is valid for ever. The pool must not be open (NVM_EBUSY); the other errors are those of
 * nvm_pool_check. */
struct nvm_last_opening {
  const char *method; /* as in struct nvm_info */
  enum nvm_domain domain;
  bool is_delayed; /* commits did not wait for the disk (NVMOVE_DURABLE) */
};
int nvm_pool_last_opening(const char *path, struct nvm_last_opening *last);

#ifdef __cplusplus
}
#endif

#endif
