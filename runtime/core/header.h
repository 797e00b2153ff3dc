/* header.h: the two header copies of a pool file. */
#pragma once

#include "core/pool.h"

/* Reads and judges the header of an open file (pool->fd) into pool->header. A failure is recorded.
 */
int nvmi_header_read(struct nvm_pool *pool);
/* Blocks on the disk for all that the header speaks of, which a sparse copy of the file has not. -1: recorded. */
int nvmi_header_fill(const struct nvm_pool *pool);
/* Fills in what a new pool of `size` bytes starts with; 0, or a recorded failure. */
int nvmi_header_init(struct nvm_pool *pool, uint64_t size);
/* Names the running program as the one that opened the pool. */
void nvmi_header_name_program(struct nvm_header *header);
/* Of two copies, also where the numbers began again at 0. */
static inline bool nvmi_header_is_newer(const struct nvm_header *a, const struct nvm_header *b) {
  return (int64_t)(a->sequence - b->sequence) > 0;
}
/* Writes pool->header to both copies in `home`, durably. */
void nvmi_header_write(struct nvm_pool *pool);
/* Derives the checksum seeds from id and generation. */
void nvmi_header_seeds(struct nvm_pool *pool);
/* Bytes of the chunk table that a heap of `heap_size` uses. */
uint64_t nvmi_chunk_table_size(uint64_t heap_size);
/* The checksum that belongs into a header. */
uint64_t nvmi_header_check(const struct nvm_header *header);
/* Whether the first `size` bytes are those that a header begins with, as far as there are so many.
 */
bool nvmi_header_begins(const struct nvm_header *header, size_t size);
/* Null when the fields fit together, else what does not. */
const char *nvmi_header_senseless(const struct nvm_header *header);
