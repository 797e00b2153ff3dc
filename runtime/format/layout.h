/* layout.h: every byte of a pool file that means something. docs/internals/pool-format.md has the
 * same as tables, docs/internals/crash-consistency.md argues why it holds.
 *
 * Invariants, in the words of the document:
 *   I1  Of the two header copies, one whose checksum holds describes the pool as it is.
 *   I2  A log entry counts only if its checksum holds under this pool's id and this generation.
 *   I3  The generation grows after recovery is durable and before the first new log entry.
 *   I4  Heap tables change only by the operations of commit records, or to a state that means the
 *       same.
 *   I5  A chunk's entry is read only at the start of a run; runs tile the heap without gap or
 *       overlap.
 *
 * Little-endian, fixed-width, every reserved byte named. Nothing here is a pointer, all places are
 * byte offsets from the start of the file.
 */
#pragma once

#include "nvmove/inspect.h"

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define NVM_MAGIC NVM_POOL_MAGIC /* "\x89NVMPOOL": no text file starts so */
#define NVM_FORMAT 1
#define NVM_LOG_FORMAT 1
#define NVM_LOG_FORMAT_DELAYED 2 /* records count up to the first number that is missing (D2) */

#define NVM_HEADER_COPY_SIZE 4096
#define NVM_FLOOR_OFFSET 0x2000
#define NVM_STATICS_OFFSET 0x2040
#define NVM_BACKUP_OFFSET 0x2080
#define NVM_ROOT_OFFSET 0x3000
#define NVM_SLOTS_OFFSET 0x4000
#define NVM_SLOTS_MAX 1024
#define NVM_TYPES_OFFSET 0x8000
#define NVM_TYPES_MAX 1024
#define NVM_CHUNKS_OFFSET 0x10000

#define NVM_CHUNK_SHIFT 14
#define NVM_CHUNK_SIZE (UINT64_C(1) << NVM_CHUNK_SHIFT)

#define NVM_MOVES_MAX 14

enum nvm_header_state { NVM_STATE_CLEAN = 1, NVM_STATE_OPEN = 2 };
/* What fields that point to static data hold: statics.h. */
enum nvm_statics_state { NVM_STATICS_BOUND, NVM_STATICS_MIXED, NVM_STATICS_TOKENS };
enum nvm_method_id { NVM_METHOD_UNDO = 1, NVM_METHOD_SHADOW = 2 };

/* Twice, at 0 and at 4096, written one after the other: a crash tears at most one (I1). */
struct nvm_header {
  uint64_t magic;           /* against files that are no pools */
  uint32_t format;          /* against older libraries reading newer pools */
  uint32_t header_size;     /* against a format that forgot to raise its number */
  uint64_t check;           /* against rot and torn writes: over the header with this field 0 */
  uint64_t sequence;        /* which copy is the newer one */
  uint8_t id[16];           /* against log entries of another pool in recycled blocks */
  uint64_t base;            /* address of file offset 0: pointers hold only there */
  uint64_t range;           /* bytes of addresses reserved, the most the file may grow to */
  uint64_t heap_offset;     /* against a heap read with other tables than it was written with */
  uint64_t heap_size;       /* against truncation; raised only after the blocks are allocated */
  uint64_t generation;      /* against log entries of an earlier opening */
  uint64_t clean_shutdowns; /* for people: closes, and openings that had to recover */
  uint64_t unclean_shutdowns;
  uint32_t state;       /* enum nvm_header_state: whether to recover */
  uint32_t method;      /* enum nvm_method_id: of the opening that wrote the log */
  uint32_t log_format;  /* against replaying entries of another shape */
  uint32_t domain;      /* enum nvm_domain: what the last opening could promise */
  uint8_t build_id[32]; /* of the program that opened last, for people; tools are none */
  uint32_t moves;       /* of a move that is not finished: addresses in `moved_from` */
  uint32_t statics;     /* enum nvm_statics_state */
  uint64_t moved_from[NVM_MOVES_MAX]; /* where pointers may still lead, besides `base` */
  uint64_t counts;       /* file offset of struct nvm_counts; 0: references are not counted */
  uint8_t reserved[232]; /* zero */
};
/* In place of the checksum of both copies while a repair writes: it does not hold. The lowest 16 bits
 * say which of the files beside the pool has what is to be written: those of its checksum, or, of an
 * older version, these: the last. */
#define NVM_CHECK_REPAIR UINT64_C(0x5249415045522e2e)
#define NVM_CHECK_REPAIR_BITS 16
static inline bool nvmi_is_repair_mark(uint64_t check) {
  return check >> NVM_CHECK_REPAIR_BITS == NVM_CHECK_REPAIR >> NVM_CHECK_REPAIR_BITS;
}
static_assert(sizeof(struct nvm_header) == 512 && offsetof(struct nvm_header, build_id) == 120, "");

/* At NVM_FLOOR_OFFSET. Commit records below need no replay: what they wrote is durable. An opening
 * numbers its records from here on, so the floor of an earlier one hides none of them. DELAYED: a
 * generation's first number at least. */
struct nvm_floor {
  uint64_t order;
  uint64_t durable; /* DELAYED: against the loss of records below, all of which were durable */
};
#define NVM_ORDER_MAX (UINT64_MAX / 4) /* of a floor: no pool counts so far */

/* At NVM_ROOT_OFFSET. Twin: the root's file offset, 0 without a root, XOR the first 8 bytes of the
 * pool's id. It says the same as the address, wherever the pool lies; it tells a root that was lost
 * from none. */
struct nvm_root_words {
  uint64_t address;
  uint64_t twin;
};

/* At NVM_SLOTS_OFFSET, one for each thread that ever wrote at the same time. A transaction uses the
 * bank of its number's lowest bit, so the previous one's record stays until this one's is durable.
 */
struct nvm_log_slot {
  uint64_t bank[2]; /* first segment of each; 0: none yet */
};
static_assert(sizeof(struct nvm_log_slot) * NVM_SLOTS_MAX == NVM_TYPES_OFFSET - NVM_SLOTS_OFFSET,
              "");

/* The first 64 bytes of a run of chunks of kind LOG; entries fill the rest. */
struct nvm_segment {
  uint64_t check; /* over self..position, seeded with the pool's id */
  uint64_t next;  /* segment that continues this one, or 0; changed by one 8-byte store */
  uint64_t self;  /* against a chain that leads astray */
  uint64_t size;  /* bytes with this header */
  uint32_t slot, bank, position; /* against two logs sharing a segment, and cycles */
  uint32_t reserved0;
  uint64_t reserved[2];
};
static_assert(sizeof(struct nvm_segment) == 64, "");

enum nvm_frame_kind {
  NVM_FRAME_UNDO = 1,   /* payload: the bytes at `offset` before the transaction wrote there */
  NVM_FRAME_REDO = 2,   /* payload: part of a commit record that does not fit into one frame */
  NVM_FRAME_COMMIT = 3, /* payload: the rest of the record; its transaction committed */
  /* The same with a checksum behind: committed if the bytes that UNDO frames name now sum up to it.
   */
  NVM_FRAME_COMMIT_CHECKED = 4,
  NVM_FRAME_RETIRED = 5, /* no payload: that checksum need not be looked at any more */
  NVM_FRAME_VOID = 6     /* no payload; DELAYED: the record of this order did not fit */
};

/* A log entry: this header and its payload, padded to whole lines. A record's payload is
 * `operations` words of 8 bytes, then lines (NVM_LINE_*). */
struct nvm_frame {
  uint64_t check;       /* over what follows, seeded with id and generation (I2) */
  uint64_t transaction; /* number in this log << 16 | NVM_FRAME_COUNT: REDO: frames of this record
                           before this one; COMMIT: how many REDO frames belong to it; UNDO, and
                           COMMIT_CHECKED: how many frames of the transaction had been fenced,
                           its lowest 16 bits (NVM_FRAME_FENCED) */
  uint64_t order;       /* pool-wide: undo goes backwards by it, redo forwards */
  union {
    uint64_t offset; /* UNDO: in the file */
    uint64_t bound;  /* COMMIT: records below this order need no replay */
  };
  uint64_t shape; /* NVM_FRAME_SHAPE */
};
/* Kind, number of operations, bytes of payload: one word, because a frame is read back by words at
 * once. */
#define NVM_FRAME_SHAPE(kind, operations, length)                                                  \
  ((uint64_t)(kind) | (uint64_t)(operations) << 8 | (uint64_t)(length) << 32)
/* In place of the number of operations, UNDO: the transaction before, in the other bank, ended; and the
 * further bits of the fenced frames. */
#define NVM_UNDO_NEXT 1
#define NVM_UNDO_OPERATIONS(flag, fenced) ((uint64_t)(flag) | (uint64_t)(fenced) >> 16 << 1)
/* In the kind, shadow: the bank has records of many transactions, each of which counts. */
#define NVM_FRAME_PACKED 0x80
#define NVM_FRAME_KIND(frame) ((unsigned)((frame)->shape & 0x7f))
#define NVM_FRAME_IS_PACKED(frame) (((frame)->shape & NVM_FRAME_PACKED) != 0)
#define NVM_FRAME_OPERATIONS(frame) ((uint32_t)((frame)->shape >> 8 & 0xffffff))
#define NVM_FRAME_LENGTH(frame) ((uint32_t)((frame)->shape >> 32))
#define NVM_FRAME_COUNT(frame) ((unsigned)((frame)->transaction & NVM_FRAME_COUNT_MAX))
#define NVM_FRAME_COUNT_MAX 0xffff
#define NVM_FRAME_FENCED(frame)                                                                    \
  (NVM_FRAME_COUNT(frame) | (uint64_t)(NVM_FRAME_OPERATIONS(frame) >> 1) << 16) /* UNDO */
#define NVM_FRAME_ALIGN 64
#define NVM_FRAME_ROOM                                                                             \
  24 /* payload in the first line: one 8-byte undo, or an operation and a word */
static_assert(sizeof(struct nvm_frame) + NVM_FRAME_ROOM == NVM_FRAME_ALIGN, "");

/* An operation: store the low 16 bits at the file offset in the high 48. */
#define NVM_OPERATION(offset, value) ((uint64_t)(offset) << 16 | (uint16_t)(value))

/* A line of a record: offset >> 6 << 16 | words, then the words whose bits are set. With
 * NVM_LINE_BYTES a byte mask follows, then its bytes, padded to 8. */
#define NVM_LINE_BYTES 0x100

/* Chunk table at NVM_CHUNKS_OFFSET: kind | class << 8 | type << 16 | chunks << 32, at a run's
 * start. */
enum nvm_chunk_kind {
  NVM_CHUNK_VIRGIN = 0, /* one chunk never used: its bytes are zero */
  NVM_CHUNK_FREE = 1,
  NVM_CHUNK_SMALL = 2,   /* a span: 16 bits for each block, 0 free, else 1 + type; then blocks */
  NVM_CHUNK_LARGE = 3,   /* one block */
  NVM_CHUNK_LOG = 4,     /* a log segment */
  NVM_CHUNK_TYPES = 5,   /* records of types */
  NVM_CHUNK_STATICS = 6, /* the table of static data */
  NVM_CHUNK_COUNTS = 7   /* counts of references, and what is to be counted */
};
#define NVM_CHUNK_ENTRY(kind, class, type, count)                                                  \
  ((uint64_t)(kind) | (uint64_t)(class) << 8 | (uint64_t)(type) << 16 | (uint64_t)(count) << 32)

/* In place of the type, SMALL: some block may hold a pointer to static data of the program. */
#define NVM_SPAN_STATICS (UINT64_C(1) << 16)
