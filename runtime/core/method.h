/* method.h: how noted bytes become durable: one table of functions a method (methods/). */
#pragma once

#include "nvmove/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nvm_pool;
struct nvmi_log;
struct nvmi_parcel;
struct nvmi_array;
struct nvmi_masks;

/* Bytes of a line that the transaction noted; or, with NVMI_RANGE in `line`, `mask` whole lines,
 * which with NVMI_FRESH lie in a block that the transaction allocated. */
struct nvmi_line {
  uint64_t line, mask;
};
#define NVMI_RANGE (UINT64_C(1) << 63)
#define NVMI_FRESH (UINT64_C(1) << 62)

static inline uint64_t nvmi_line_first(const struct nvmi_line *item) {
  return item->line & ~(NVMI_RANGE | NVMI_FRESH);
}
static inline uint64_t nvmi_line_count(const struct nvmi_line *item) {
  return item->line & NVMI_RANGE ? item->mask : 1;
}

struct nvmi_method {
  const char *name;
  uint32_t id;
  bool private_work; /* map the program's view copy-on-write */
  bool entries;      /* a note is an entry of the old bytes (entry.h), then a fence */
  /* The bytes are about to be written, after `drain` has returned. Null: lines are enough. */
  void (*note)(struct nvmi_log *log, const void *address, size_t size);
  void (*drain)(struct nvmi_log *log);
  /* Stores and loads of the explicit interface (tx/wrap.h), of bytes in the pool's view, in a thread
   * that says it is at work. `store`: `size` bytes, none of them in a new block that the thread
   * remembers. `before_read`: of more than one value; null: nothing has to be done. Without `store` a
   * store is noted, and made in place. */
  void (*store)(struct nvmi_log *log, char *to, const char *from, size_t size);
  void (*before_read)(struct nvmi_log *log, uintptr_t start, uintptr_t end);
  /* With `store`: the program accesses these bytes in place from now on; the thread may have new values of
   * them elsewhere. */
  void (*settle)(struct nvmi_log *log, uintptr_t start, uintptr_t end);
  /* With `settle`, in a signal handler that interrupted the thread's work, for an access that only reads: the bytes are
   * in place as well, and stay new values. */
  void (*show)(struct nvmi_log *log, uintptr_t start, uintptr_t end);
  /* With `store`: the thread is about to release a lock, others will see what it has stored; it is
   * about to commit. Null: nothing has to be done. */
  void (*before_release)(struct nvmi_log *log);
  void (*before_commit)(struct nvmi_log *log);
  /* The transaction's lines in this pool become durable, or come back. Commit gives an enum
   * nvm_error. */
  enum nvm_error (*commit)(struct nvmi_log *log, const struct nvmi_line *lines, size_t count);
  void (*abort)(struct nvmi_log *log, const struct nvmi_line *lines, size_t count);
  /* Of a transaction that is being undone: bytes that another open one has noted since, and which
   * that one undoes in its turn (undoing.h), are handed to it in a parcel. Null: nothing to hand.
   */
  void (*hand_on)(struct nvmi_log *log, const struct nvmi_masks *noted, struct nvmi_parcel *parcel);
  /* The bytes that a parcel has, as lines. */
  void (*parcel_lines)(const struct nvmi_parcel *parcel, struct nvmi_masks *lines);
  /* What the transaction wrote so far, as struct nvmi_piece (piece.h), for a pool that counts
   * references. False: out of memory. */
  bool (*pieces)(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                 struct nvmi_array *pieces);
  /* The transaction's lines as it left them itself, as struct nvmi_captured, one each; others, who
   * stand still, may have stored to them since. Null: what it captured is that. */
  void (*own_bytes)(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
                    struct nvmi_array *own);
  /* A lock that may guard the line (or range) is about to be released: what commits are the bytes
   * of now. Null: bytes are safe where they are. */
  void (*capture)(struct nvmi_log *log, const struct nvmi_line *line);
  /* With `capture`, behind the last line: what else the transaction has stored. Null: nothing. */
  void (*capture_rest)(struct nvmi_log *log);
  /* The transaction leaves its thread, and becomes part of another's. */
  void (*pack)(struct nvmi_log *log, const struct nvmi_line *lines, size_t count,
               struct nvmi_parcel *parcel);
  void (*unpack)(struct nvmi_log *log, struct nvmi_parcel *parcel);
  /* Before fork, in the parent: what the child will see. */
  void (*before_fork)(struct nvm_pool *pool);
};
