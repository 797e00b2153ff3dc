/* straight.h: bytes of new blocks that a commit stores in the file, not in its record.
 *
 * They are fenced before the record's last frame is put: the record may arrive whole before its own
 * fence. Crash before the first fence: the block is free, its bytes are nobody's. After: they are
 * there. No older record is replayed over them. Of a large block: its run was not taken before the
 * floor had passed all records that can name it. Of a block in a span: what its former life wrote,
 * and its last free, have orders up to the span's freed order, which lies below the bound that this
 * very record tells: with the record, no recovery replays them; without it, the block is free
 * (docs/pool-format.md, "The floor").
 */
#pragma once

#include "internal.h"

/* Before the record's lines are added: nothing went straight so far. */
void nvmi_straight_begin(struct nvmi_log *log);
/* Whether item `index` of the list, in a record that tells `bound`, is to go straight; remembered.
 */
bool nvmi_straight_take(struct nvmi_log *log, const struct nvmi_line *item, size_t index,
                        uint64_t bound);
/* Whether it went. To be asked for each item, in the same order; `next` begins with 0. */
static inline bool nvmi_straight_went(const struct nvmi_log *log, size_t index, size_t *next) {
  const size_t *taken = log->straight.items;
  if (*next >= log->straight.count || taken[*next] != index)
    return false;
  ++*next;
  return true;
}

/* Where ranges are few and short: the list with their lines one by one, valid until the next
 * commit. Null: there is no range, or too many lines for one frame. */
const struct nvmi_line *nvmi_lines_single(struct nvmi_log *log, const struct nvmi_line *lines,
                                          size_t count, size_t *single);
