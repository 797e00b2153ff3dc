/* edges.h: links, summed over blocks of one stack. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Under the lock. A link from a word to blocks of a stack. `kind`: 'v' a variable's
 * address, 'b' a block's stack, 'f' a frame's return address; `offset`: of the word, in a block. */
void nvmi_observe_edges_begin(uint64_t point);
void nvmi_observe_edge(char kind, uintptr_t from, uint32_t offset, uint32_t to);
void nvmi_observe_edges_end(void); /* of a point: the most links of a point count */
struct nvmi_observe_edge {
  uintptr_t from;
  uint32_t offset, to;
  uint64_t now, most;    /* links: at this point, at a point */
  uint64_t since, until; /* the numbers of the first and the last point that found it */
  char kind;             /* 0: none */
};
const struct nvmi_observe_edge *nvmi_observe_edges(size_t *slots);
