/* kv.h: a map from 64-bit keys to VALUE_BYTES bytes, as each system under measurement provides it.
 *
 * One executable holds driver.c and one implementation: table.c or tree.c, plain C, compiled by
 * clang (the volatile twin) or by nvmove-cc; pmemobj_table.c or pmemobj_tree.c, the same structures
 * ported to libpmemobj by hand; or pmdk.c, the maps that come with PMDK. An insertion and an update
 * are a durable transaction each; a read copies the value out.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifndef VALUE_BYTES
#define VALUE_BYTES 8
#endif

/* Makes the map in a new pool at `path` (the volatile twin ignores it), with room for `count` keys
 * of the tables' and trees' own. Ends the process with a message when that fails. */
void kv_make(const char *path, uint64_t count, size_t pool_bytes);
/* `key` is new. */
void kv_insert(uint64_t key, const void *value);
/* `key` is there. */
void kv_update(uint64_t key, const void *value);
/* Copies the value to `value`; 0: no such key. */
int kv_read(uint64_t key, void *value);
