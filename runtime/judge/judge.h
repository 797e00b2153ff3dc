/* judge.h: whether a word that a transaction wrote is an unsafe pointer (pointers.h).
 *
 * Decided: a field that is a pointer only if another member of its record says so (NVM_WHEN,
 * NVM_UNLESS). A transaction that stores to that member alone may make an old number a pointer: it
 * is judged then, too. Hidden: a pointer that no aligned word of the pool is, as in a packed record,
 * or under a tag in its highest bits. Both are looked for by record. Image: the bytes as the
 * transaction leaves them, where others have stored since; without one they are those of the pool.
 */
#pragma once

#include "heap/fates.h"
#include "types/judged.h"
#include "types/types.h"
#include "types/words.h"

/* Reads whole lines, of which other threads may write words that are not judged here. */
#define NVMI_RACES_WITH_NEIGHBOURS __attribute__((no_sanitize("thread")))

enum { NVMI_SUSPECTS = 8 }; /* that wait at a time */

/* What is known of the block that a word lies in; words in a row mostly share it. */
struct nvmi_judge {
  struct nvm_pool *pool;
  const struct nvmi_log *log;     /* of the transaction; null: only look-ups are asked for */
  const struct nvmi_array *image; /* struct nvmi_captured, one a line, sorted; or null */
  uint64_t first, size;           /* addresses in the pool that are not looked at */
  uint64_t start, end;            /* in the file */
  const struct nvm_type *type;
  uint64_t words;    /* judged ones of a record, 0: none */
  uint64_t record;   /* bytes from one record to the next, or more than the block has */
  bool by_record;    /* some of them decided, or hidden */
  bool has_volatile; /* members that nobody notes */
  bool quiet;        /* nobody is told: the caller will look again */
  bool has_fates;
  struct nvmi_fates fates;
  /* The newest words that may be such a pointer, not looked up yet: a span's own tables are seldom
   * in the cache, nor where they lie in the processor's table of pages. */
  struct {
    uint64_t offset, value;
  } suspects[NVMI_SUSPECTS];
  uint64_t suspected; /* so far */
};

/* Finds the block at an offset of the file. */
void nvmi_judge_look_up(struct nvmi_judge *judge, uint64_t offset);
static inline bool nvmi_judge_knows(const struct nvmi_judge *judge, uint64_t offset) {
  return offset - judge->start < judge->end - judge->start;
}

/* Whether a block with bytes of [start, end) in the file has members whose stores nobody notes, as
 * far as that is known. */
bool nvmi_has_volatile_at(struct nvm_pool *pool, uint64_t start, uint64_t end);

/* A value that may be an unsafe pointer at an offset of the file. NVM_EUNSAFE, recorded if the
 * judge is not quiet: it is one. */
enum nvm_error nvmi_judge_word(struct nvmi_judge *judge, uint64_t offset, uint64_t value);

/* Of the line at an offset of the file: its words that have bytes of `mask` (the line is at `bytes`, in the pool or
 * elsewhere), what these bytes decide about, and hidden pointers that have some of them. */
enum nvm_error nvmi_judge_line(struct nvmi_judge *judge, uint64_t line, const char *bytes,
                               uint64_t mask);

/* Calls `visit` for each record that is judged as such in the blocks that have bytes of `mask`. */
typedef enum nvm_error nvmi_visit_record(void *context, const struct nvm_type *type,
                                         uint64_t record);
enum nvm_error nvmi_judge_blocks(struct nvmi_judge *judge, uint64_t line, uint64_t mask,
                                 nvmi_visit_record *visit, void *context);

/* Whether a value is an address of a process, and not of this pool. */
static inline bool nvmi_may_be_unsafe(const struct nvmi_judge *judge, uint64_t value) {
  /* No process has memory below: Linux keeps the first pages free for null pointers. */
  enum { LOWEST = 0x1000 };
  return value - LOWEST < (UINT64_C(1) << NVMI_ADDRESS_BITS) - LOWEST &&
         value - judge->first >= judge->size;
}
