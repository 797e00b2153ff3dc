/* repair_copy.h: what a repair keeps beside the pool: a file with every range of bytes that changes, as
 * they were and as they will be. How it is used, and why a crash does no harm: repair_apply.c.
 */
#pragma once

#include "fsck/repair.h"

#define NVMI_COPY_MAGIC UINT64_C(0x5249415045524d4e) /* "NMREPAIR" */

/* The file: this, the ranges, the bytes before of each, the bytes after. */
struct nvmi_copy {
  uint64_t magic;
  uint64_t check; /* over all that follows */
  uint64_t pool_size_before, pool_size_after;
  uint64_t ranges, bytes;
  uint8_t id[16]; /* of the pool */
};
/* Of whole words; the headers' checksums are ranges of their own. */
struct nvmi_copy_range {
  uint64_t offset, size;
};

static inline struct nvmi_copy_range *nvmi_copy_ranges(const struct nvmi_copy *copy) {
  return (struct nvmi_copy_range *)(copy + 1);
}
static inline char *nvmi_copy_before(const struct nvmi_copy *copy) {
  return (char *)(nvmi_copy_ranges(copy) + copy->ranges);
}
static inline char *nvmi_copy_after(const struct nvmi_copy *copy) {
  return nvmi_copy_before(copy) + copy->bytes;
}
static inline uint64_t nvmi_copy_size(const struct nvmi_copy *copy) {
  return sizeof *copy + copy->ranges * sizeof(struct nvmi_copy_range) + 2 * copy->bytes;
}

/* Whether the checksum of a header copy lies there. */
static inline bool nvmi_is_header_check(uint64_t offset) {
  return offset % NVM_HEADER_COPY_SIZE == offsetof(struct nvm_header, check) &&
         offset < 2 * NVM_HEADER_COPY_SIZE;
}

/* Of the pool's file, zeros behind its end; of any file. 0, or -1: recorded. */
int nvmi_copy_read(const struct nvm_pool *pool, void *to, uint64_t size, uint64_t offset);
int nvmi_copy_write(const char *path, int fd, const void *from, uint64_t size, uint64_t offset);

/* What differs between image and file, in DRAM of nvmi_copy_size(). Null: recorded. */
struct nvmi_copy *nvmi_copy_make(const struct nvmi_repair *repair);
/* Under the first number that is free, durably; repair->how->copy becomes its name, or empty: -1. */
int nvmi_copy_save(struct nvmi_repair *repair, const struct nvmi_copy *copy);
/* Mapped; `*size` for munmap. Null: recorded. */
struct nvmi_copy *nvmi_copy_load(const char *path, uint64_t *size);

/* What stands in the headers while this one is being written to the pool. */
uint64_t nvmi_copy_mark(const struct nvmi_copy *copy);
/* The mark that a repair has left in the pool; 0: none. */
uint64_t nvmi_copy_mark_in(const struct nvm_pool *pool);
/* The name of the file whose mark that is. False: it is gone; recorded. */
bool nvmi_copy_find(const struct nvm_pool *pool, uint64_t mark, char *found, size_t room);
