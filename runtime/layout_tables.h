/* layout_tables.h: what a pool file says of the program's types and static data; part of layout.h's
 * truth, in the same terms.
 */
#pragma once

#include "layout.h"

/* At NVM_STATICS_OFFSET: the file offset of the first run of kind STATICS, or 0. The run's first 64
 * bytes; entries fill the rest. */
struct nvm_statics_run {
  uint64_t check; /* over `self`, seeded with the pool's id */
  uint64_t next;  /* the run that continues this one, or 0; changed by one 8-byte store */
  uint64_t self;  /* against a chain that leads astray */
  uint64_t reserved[5];
};
static_assert(sizeof(struct nvm_statics_run) == 64, "");

/* A function or datum of the program that something in the pool points to. Texts follow, padded to
 * whole lines; places are offsets in the entry. */
struct nvm_static {
  uint64_t check;   /* over all from `offset` on, seeded with the pool's id */
  uint64_t address; /* in the process that bound the pool's pointers */
  uint64_t offset;  /* in its module as linked, for `build_id` */
  uint64_t within;  /* bytes from the start of the symbol */
  uint64_t symbol_size;
  uint32_t length;                   /* of the entry, bytes */
  uint32_t module, name, file, text; /* text: of a string constant, with NVM_STATIC_TEXT */
  uint32_t flags;                    /* NVM_STATIC_* */
  uint8_t build_id[32];
};
#define NVM_STATIC_TEXT 1u
#define NVM_STATIC_CONSTANT 2u /* nobody can write there */
static_assert(sizeof(struct nvm_static) == 96, "");

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
