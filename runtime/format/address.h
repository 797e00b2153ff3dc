/* address.h: the addresses at which a pool lies or has lain (pool/relocate.h). */
#pragma once

#include "format/layout.h"

#include <stdbool.h>

/* Whether a pointer leads into a pool that lies at `base`. Offset 0 is the header: a pointer to it
 * is none. One behind the last byte may be. */
static inline bool nvmi_is_at(uint64_t value, uint64_t base, uint64_t range) {
  return value - base - 1 < range;
}
/* Whether the pool was there before a move that is not finished. */
bool nvmi_is_former(const struct nvm_header *header, uint64_t base);

/* The file offset that the pointer `value` stands for, in the midst of a move too. False: it does
 * not lead into the pool. */
bool nvmi_pointer_offset(const struct nvm_header *header, uint64_t value, uint64_t *offset);

/* Whether a pool of this range could lie at `base`. */
static inline bool nvmi_is_base(const struct nvm_header *header, uint64_t base) {
  return base % header->range == 0 && base >= NVM_RANGE_BASE &&
         base - NVM_RANGE_BASE <= NVM_RANGE_SIZE - header->range;
}

/* Whether the pool may be put at `base`, given the moves that are not finished. */
bool nvmi_base_allowed(const struct nvm_header *header, uint64_t base);

/* The base for which an undecided word would be a pointer: undecided ones never move. A move that
 * was interrupted goes back to there if it can: that succeeds whatever the pool holds. */
static inline uint64_t nvmi_origin(const struct nvm_header *header) {
  return header->moves ? header->moved_from[0] : header->base;
}
