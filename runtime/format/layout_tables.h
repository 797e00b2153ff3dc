/* layout_tables.h: what a pool file says of the program's types and static data; part of layout.h's
 * truth, in the same terms.
 */
#pragma once

#include "format/layout.h"

/* At NVM_BACKUP_OFFSET, a line of its own; means something only while processes run (quiesce.h). */
struct nvm_backup_words {
  uint64_t asked;    /* 0: nobody wants a copy; else a number that no earlier asking had */
  uint64_t answered; /* the same: the pool is quiesced */
  uint64_t reserved[6];
};
static_assert(sizeof(struct nvm_backup_words) == 64 && NVM_BACKUP_OFFSET % 64 == 0, "");
/* The byte that who asks has locked, far behind every file's end. */
#define NVM_BACKUP_BYTE (INT64_C(1) << 61)

/* At NVM_STATICS_OFFSET: the file offset of the first run of kind STATICS, or 0. The run's first 64
 * bytes; entries fill the rest. */
struct nvm_statics_run {
  uint64_t check; /* over `self`, seeded with the pool's id */
  uint64_t next;  /* the run that continues this one, or 0; changed by one 8-byte store */
  uint64_t self;  /* against a chain that leads astray */
  uint64_t used;  /* against lost entries: bytes that were durable, with this head: never 0 */
  uint64_t reserved[4];
};
static_assert(sizeof(struct nvm_statics_run) == 64, "");

/* A function or datum of the program that something in the pool points to. Texts follow, padded to
 * whole lines; places are offsets in the entry. */
struct nvm_static {
  uint64_t check;   /* over all from `offset` on, seeded with the pool's id */
  uint64_t address; /* in the process that bound the pool's pointers */
  uint64_t twin;    /* against damage to it: says the same, as a function of the pool's id */
  uint64_t offset;  /* in its module as linked, for `build_id` */
  uint64_t within;  /* bytes from the start of the symbol, or, with NVM_STATIC_STRING, the string */
  uint64_t symbol_size;
  uint32_t length;                   /* of the entry, bytes */
  uint32_t module, name, file, text; /* text: of a string constant, with NVM_STATIC_TEXT */
  uint32_t flags;                    /* NVM_STATIC_* */
  uint8_t build_id[32]; /* of the linker, then a checksum at the end: symbols/builds.h */
};
#define NVM_STATIC_TEXT 1u
#define NVM_STATIC_CONSTANT 2u  /* nobody can write there */
#define NVM_STATIC_PICKED 4u    /* a variant of the function; the loader says which */
#define NVM_STATIC_NAMESAKES 8u /* nothing tells it from others in another build */
#define NVM_STATIC_STRING 16u   /* that it is one is known; `within` bytes of it precede the text */
#define NVM_STATIC_ALIASES 32u  /* `text`: the symbol's other names, each behind a line feed */
static_assert(sizeof(struct nvm_static) == 104, "");

/* At NVM_TYPES_OFFSET; entry i is the type that heap words name by 1 + i. Entry 0 is "untyped". */
struct nvm_type_entry {
  uint64_t id;
  uint64_t record; /* file offset, a multiple of 64, in a run of kind TYPES */
  uint64_t size;   /* of the record, bytes */
  uint64_t check;  /* over the fields before and the record, seeded with the pool's id: a torn entry
                      is a free one */
};
static_assert(sizeof(struct nvm_type_entry) * NVM_TYPES_MAX == NVM_CHUNKS_OFFSET - NVM_TYPES_OFFSET,
              "");

/* A record: this, the fields, their conditions, texts that end with 0. The meaning of the fields is
 * that of struct nvm_type, nvm_field and nvm_when (nvmove/abi.h); places are offsets in the record.
 */
struct nvm_type_record {
  uint64_t size; /* of the type, bytes; 0: nobody described it */
  uint32_t alignment;
  uint32_t field_count;
  uint32_t name, members; /* texts */
  uint64_t reserved;
};
struct nvm_type_field {
  uint64_t target, tag;
  uint32_t name; /* text */
  uint32_t offset, count, stride, kind;
  uint32_t when; /* struct nvm_type_when; 0: always */
};
struct nvm_type_when {
  uint32_t offset;
  uint8_t first_bit, bits, follows, unless;
  uint32_t count; /* of int64_t behind this */
  uint32_t reserved;
};
static_assert(sizeof(struct nvm_type_record) == 32 && sizeof(struct nvm_type_field) == 40 &&
                  sizeof(struct nvm_type_when) == 16,
              "");

/* At header.counts: the first bytes of a run of kind COUNTS, in a pool that counts references
 * (counts.h). Behind it, in this order: two batches, the circular log, the directory: for each
 * NVM_COUNTS_STRETCH bytes of addresses two words, the file offsets of the tables of counted and of
 * weak references, 0: none yet. A table is a run of its own: 16 bits for every 16 bytes. */
struct nvm_counts {
  uint64_t check;    /* over self and size, seeded with the pool's id */
  uint64_t self;     /* against a header that leads astray */
  uint64_t size;     /* bytes, with this */
  uint64_t exact;    /* NVM_COUNTS_EXACT, or the tables have to be made anew; one store */
  uint64_t released; /* the generation at whose close nothing was left to free */
  uint64_t sum;      /* of the directory (counts.c); of one word less after a crash */
  uint64_t counted;  /* against its loss: the sequence of a batch that was whole; one store */
  uint64_t reserved;
};
static_assert(sizeof(struct nvm_counts) == 64, "");
#define NVM_COUNTS_EXACT UINT64_C(0x9d3f62a1c85be407) /* no bit or two of another word make it */
#define NVM_COUNTS_STRETCH (UINT64_C(1) << 19)
#define NVM_COUNTS_TABLE (NVM_COUNTS_STRETCH / 16 * 2) /* bytes */
#define NVM_COUNT_MANY UINT16_MAX /* so many or more: never less, until all is counted anew */

/* Redo entries for the tables: the newest of the two says how far the circular log is counted. */
struct nvm_batch {
  uint64_t check;    /* over what follows and `count` entries, seeded with the pool's id */
  uint64_t sequence; /* which is newer; lowest bit: which of the two places is its */
  uint64_t position; /* the record that comes next, in lines since counting began */
  uint32_t within;   /* changes of that record that are counted already */
  uint32_t count;    /* entries: struct nvm_count behind this */
  uint64_t reserved[4];
};
struct nvm_count {
  uint64_t place, value; /* file offset in a table, what stands there afterwards */
};
#define NVM_BATCH_SIZE 16384
#define NVM_BATCH_MAX ((NVM_BATCH_SIZE - sizeof(struct nvm_batch)) / sizeof(struct nvm_count))

/* An activation record: what pointers a transaction changed. Whole lines of the circular log. */
struct nvm_activation {
  uint64_t check;       /* over what follows and the changes, seeded with id and generation */
  uint64_t position;    /* in lines since counting began: against what an earlier round left */
  uint64_t transaction; /* its number in its log << 16 | the log's slot */
  uint32_t count;       /* changes: struct nvm_reference behind this */
  uint32_t behind; /* lines from the last one of its log that counts to this; 0: none is left */
};
/* Where a pointer led before and leads now: file offset of 16 bytes, NVM_REFERENCE_*; 0: nowhere.
 */
struct nvm_reference {
  uint64_t before, after;
};
#define NVM_REFERENCE_WEAK 1u
#define NVM_REFERENCE_NEW 2u /* before: a block that this transaction allocated */
#define NVM_RING_LINES 65536
#define NVM_RING_LINE 64
#define NVM_ACTIVATION_MAX 65534 /* changes: a quarter of the log */
static_assert(sizeof(struct nvm_batch) == 64 && sizeof(struct nvm_activation) == 32, "");
