/* redo.c: see redo.h. A record's payload is operations, then lines (layout.h). */
#include "log/redo.h"

#include <string.h>

bool nvmi_in_view(const struct nvm_pool *pool, uint64_t offset, uint64_t size) {
  uint64_t heap = pool->header.heap_offset, end = heap + pool->header.heap_size;
  return (offset >= heap && offset < end && size <= end - offset) ||
         (offset >= NVM_ROOT_OFFSET && offset < NVM_ROOT_OFFSET + 4096 &&
          size <= NVM_ROOT_OFFSET + 4096 - offset);
}

bool nvmi_apply_operation(struct nvm_pool *pool, uint64_t operation) {
  uint64_t at = operation >> 16;
  uint64_t end = pool->header.heap_offset + pool->header.heap_size;
  if (at < NVM_CHUNKS_OFFSET || at % 2 || at >= end)
    return false;
  uint16_t *word = (uint16_t *)(pool->home + at);
  __atomic_store_n(word, (uint16_t)operation, __ATOMIC_RELAXED);
  pool->persist->flush(word, sizeof *word);
  return true;
}

/* A line as a record has it: where it belongs, which bytes, how many bytes of the record. */
struct line {
  uint64_t offset, mask;
  uint32_t bytes, size; /* where its bytes begin, all of it */
};

static inline struct line read_line(const char *at) {
  uint64_t head;
  struct line line = {.bytes = 8};
  memcpy(&head, at, 8);
  line.offset = head >> 16 << 6;
  if (head & NVM_LINE_BYTES) {
    memcpy(&line.mask, at + 8, 8);
    line.bytes = 16;
  } else { /* each bit becomes a byte of ones */
    line.mask = (head & 0xff) * UINT64_C(0x8040201008040201);
    line.mask = line.mask >> 7 & UINT64_C(0x0101010101010101);
    line.mask = __builtin_bswap64(line.mask) * 0xff;
  }
  line.size = (line.bytes + (uint32_t)__builtin_popcountll(line.mask) + 7) & ~7u;
  return line;
}

/* Gives the bytes it took, 0 when it makes no sense. */
static uint32_t redo_line(struct nvm_pool *pool, const char *at, uint32_t room) {
  _Alignas(64) char bytes[64];
  if (room < 16)
    return 0;
  struct line line = read_line(at);
  if (!line.mask || room < line.bytes + (uint32_t)__builtin_popcountll(line.mask) ||
      !nvmi_in_view(pool, line.offset, 64))
    return 0;
  at += line.bytes;
  for (uint64_t left = line.mask; left;) {
    unsigned i = (unsigned)__builtin_ctzll(left);
    if (i % 8 == 0 && (left >> i & 0xff) == 0xff) {
      memcpy(bytes + i, at, 8);
      left &= ~(UINT64_C(0xff) << i);
      at += 8;
    } else {
      bytes[i] = *at++;
      left &= left - 1;
    }
  }
  pool->persist->store_line(pool->home + line.offset, bytes, line.mask);
  return line.size;
}

/* Bytes of payload that are operations and lines. */
static uint32_t length_of(const struct nvm_frame *frame) {
  uint32_t checksum = NVM_FRAME_KIND(frame) == NVM_FRAME_COMMIT_CHECKED ? sizeof(uint64_t) : 0;
  return NVM_FRAME_LENGTH(frame) - checksum;
}

bool nvmi_redo_frame(struct nvm_pool *pool, const struct nvm_frame *frame) {
  const char *payload = (const char *)(frame + 1);
  uint32_t at = 0, end = length_of(frame);
  for (; at < 8u * NVM_FRAME_OPERATIONS(frame); at += 8) {
    uint64_t operation;
    memcpy(&operation, payload + at, 8);
    if (!nvmi_apply_operation(pool, operation))
      return false;
  }
  while (at < end) {
    uint32_t used = redo_line(pool, payload + at, end - at);
    if (!used)
      return false;
    at += used;
  }
  return true;
}

void nvmi_redo_flush(const struct nvm_pool *pool, const struct nvm_frame *frame) {
  const char *payload = (const char *)(frame + 1);
  uint32_t at = 0, end = length_of(frame);
  for (; at < 8u * NVM_FRAME_OPERATIONS(frame); at += 8) {
    uint64_t operation;
    memcpy(&operation, payload + at, 8);
    pool->persist->flush(pool->home + (operation >> 16), sizeof(uint16_t));
  }
  while (at < end) {
    struct line line = read_line(payload + at);
    pool->persist->flush(pool->home + line.offset, NVM_LINE_SIZE);
    at += line.size;
  }
}
