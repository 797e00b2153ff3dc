/* shadow_lines.h: lines of the private view, for the commit (shadow.c) and the abort
 * (shadow_abort.c). */
#pragma once

#include "core/captured.h"
#include "core/log_state.h"
#include "core/regions.h"
#include "judge/unnoted.h"
#include "order/undoing.h"

typedef void nvmi_shadow_visit(void *context, struct nvm_pool *pool, uint64_t offset,
                               uint64_t mask);

static inline void nvmi_shadow_each_line(struct nvm_pool *pool, const struct nvmi_line *lines,
                                         size_t count, nvmi_shadow_visit *visit, void *context) {
  uint64_t first = pool->header.base >> 6;
  for (size_t i = 0; i < count; i++) {
    uint64_t line = nvmi_line_first(&lines[i]) - first;
    if (NVMI_LIKELY(!(lines[i].line & NVMI_RANGE))) {
      visit(context, pool, line << 6, lines[i].mask);
      continue;
    }
    for (uint64_t j = 0; j < lines[i].mask; j++)
      visit(context, pool, (line + j) << 6, UINT64_MAX);
  }
}

static inline uint64_t nvmi_captured_offset(const struct nvmi_log *log,
                                            const struct nvmi_captured *captured) {
  return (captured->line << 6) - log->pool->header.base;
}

/* The bytes of `mask` as the file has them, but for members that nobody notes; where the view is the file nothing
 * has to be done. */
static inline void nvmi_shadow_fetch_home(void *unused, struct nvm_pool *pool, uint64_t offset,
                                          uint64_t mask) {
  (void)unused;
  if (NVMI_UNLIKELY(!nvmi_view_is_private(pool, offset)))
    return;
  if (nvmi_has_unnoted(pool))
    mask &= ~nvmi_unnoted_in_line(pool, offset);
  for (; mask; mask &= mask - 1) {
    unsigned i = (unsigned)__builtin_ctzll(mask);
    pool->work[offset + i] = pool->home[offset + i];
  }
}

/* What members that nobody notes had before notes covered them, the oldest at last; those that a
 * dependent has noted since stay. Other threads may store to them. */
__attribute__((no_sanitize("thread"))) static inline void
nvmi_shadow_uncover(struct nvmi_log *log) {
  const struct nvmi_captured *covered = log->covered.items;
  for (size_t i = log->covered.count; i-- > 0;)
    for (uint64_t left = covered[i].mask & ~nvmi_masks_at(&nvmi_kept, covered[i].line); left;
         left &= left - 1) {
      unsigned byte = (unsigned)__builtin_ctzll(left);
      ((volatile char *)(covered[i].line * NVM_LINE_SIZE))[byte] = covered[i].bytes[byte];
    }
  log->covered.count = 0;
}
