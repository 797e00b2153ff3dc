/* changes.h: which references a transaction changes (Breeze, section IV.F, the first phase).
 *
 * Piece: bytes of a word that the transaction wrote. Both methods give them: `shadow` the new
 * bytes, the file still having the old ones; `undo` the old bytes from its entries, the new ones
 * being in place. Change: a word that differs from what is committed. Reference: where a word leads
 * that the block's type calls a pointer, or that nobody decides: the same words that reach.h
 * follows, and in blocks without type every eight bytes at any place.
 *
 * Looked at is a word alone where its type says by itself what it is. Of records with conditions,
 * with pointers across words, and of blocks without type, the image before and the one after are
 * compared: there a word counts or not as another says. Blocks that the transaction allocates count
 * as null before, whatever lay there; what it frees counts as null afterwards.
 */
#pragma once

#include "core/pool.h"

/* Of a log: what its commits look at, and the activation record that they make. */
struct nvmi_count_scratch {
  struct nvmi_array pieces;     /* struct nvmi_piece (piece.h) */
  struct nvmi_array references; /* struct nvm_reference: what nvmi_changes finds */
  struct nvmi_array base;       /* bytes */
  struct nvmi_array image;      /* bytes */
  struct nvmi_array listed[2];  /* uint64_t */
  struct nvmi_array record;     /* bytes */
  uint64_t activation;          /* where the record lies, + 1; 0: there is none */
  uint64_t last;                /* the same of the last one whose transaction committed */
};

/* For all slots of a pool; null: out of memory. */
struct nvmi_count_scratch *nvmi_count_scratch_make(void);
void nvmi_count_scratch_free(struct nvmi_count_scratch *all);

/* Fills the references of the log's scratch. NVM_ENOMEMORY: recorded. */
enum nvm_error nvmi_changes(struct nvmi_log *log, const struct nvmi_line *lines, size_t count);

/* Calls `visit` for each reference that a block of that type (index in the pool's table) holds,
 * `bytes` being an image of it: nvm_reference's words. */
typedef void nvmi_visit_reference(void *context, uint64_t to);
void nvmi_each_reference(struct nvm_pool *pool, unsigned type, const char *bytes, uint64_t size,
                         nvmi_visit_reference *visit, void *context);

/* The address in a word of a field, as a reference; 0: it is none that counts. */
uint64_t nvmi_reference_of(const struct nvm_pool *pool, const struct nvm_field *field,
                           uint64_t value);
