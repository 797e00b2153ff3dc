/* alias.h: new values that are not in place yet: the alias table of the open transaction of a log.
 *
 * Methods whose stores and loads come through the explicit interface (nvmove/wrap.h) keep new values
 * here until they are written to the pool. Alias: a line of the pool, which of its bytes the
 * transaction has stored, and their values. Aliases are entries of the log's `captured`, from number `first`
 * on; a hash table finds them by line. Filter: bits of the lines that have an alias.
 * A load of a line whose bit is not set looks no further.
 *
 * All of it belongs to the log's owner, who has said that it is at work (`busy`).
 */
#pragma once

#include "core/captured.h"
#include "core/log_state.h"

#include <stdbool.h>

static inline uint64_t nvmi_alias_hash(uint64_t line) {
  return line * UINT64_C(0x9e3779b97f4a7c15) >> 32;
}

static inline bool nvmi_alias_may_have(const struct nvmi_alias_part *alias, uint64_t line) {
  uint64_t bit = nvmi_alias_hash(line) % NVMI_ALIAS_FILTER_BITS;
  return alias->filter[bit / 64] >> bit % 64 & 1;
}

static inline struct nvmi_captured *nvmi_alias_at(const struct nvmi_log *log, size_t number) {
  return (struct nvmi_captured *)log->captured.items + log->alias.first + number;
}

/* The alias of a line; null: it has none. */
struct nvmi_captured *nvmi_alias_find(const struct nvmi_log *log, uint64_t line);
/* The same; a new alias has no bytes. Valid until the next one is made. Out of memory: fatal. */
struct nvmi_captured *nvmi_alias_make(struct nvmi_log *log, uint64_t line);

/* Whether some line of these addresses has an alias. */
bool nvmi_alias_hits(const struct nvmi_log *log, uintptr_t start, uintptr_t end);
/* Puts the aliased bytes of the addresses [from, from + size) over `to`. */
void nvmi_alias_read(const struct nvmi_log *log, char *to, uintptr_t from, size_t size);

/* Puts the aliased bytes of the lines of these addresses in place; they stay aliased. */
void nvmi_alias_put(const struct nvmi_log *log, uintptr_t start, uintptr_t end);

/* A block in which the transaction has stored has become another: what it stored there, and handed
 * over, is nobody's. */
void nvmi_alias_forget_block(struct nvmi_log *log, uintptr_t start, size_t size);

/* What is aliased stays in `captured`; the table begins anew behind it. */
void nvmi_alias_close(struct nvmi_log *log);
/* Forgets what is aliased. */
void nvmi_alias_clear(struct nvmi_log *log);

/* A handler has jumped out of nvmi_alias_make: drops what does not count yet. */
void nvmi_alias_mend(struct nvmi_log *log);

/* Gives the memory back. The table is not used again. */
void nvmi_alias_free(struct nvmi_log *log);
