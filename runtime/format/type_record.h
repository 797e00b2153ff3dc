/* type_record.h: a type's layout as bytes of the pool file, and back. */
#pragma once

#include "base/basics.h"
#include "format/layout_tables.h"

/* Appends the record of `type` to `bytes`, padded to whole lines. False: out of memory. */
bool nvmi_type_encode(const struct nvm_type *type, struct nvmi_array *bytes);

/* The layout that `size` bytes at `record` say, its texts in place, its fields in DRAM of `memory`;
 * `id` is its. Null: the bytes make no sense, or out of memory. */
const struct nvm_type *nvmi_type_decode(struct nvmi_arena *memory, uint64_t id, const char *record,
                                        uint64_t size);

/* Bytes of the record that begins there, of at most `room`; 0: it is none. */
uint64_t nvmi_type_record_size(const char *record, uint64_t room);
