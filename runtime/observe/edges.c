/* edges.c: links between stacks, counted at each point; the most of a point are kept. */
#include "observe/edges.h"

#include "observe/observe.h"

#define FIRST_SLOTS (1u << 12)

static struct nvmi_observe_edge *edges;
static size_t slots, used;
static uint64_t point;

static uint64_t hash_of(char kind, uintptr_t from, uint32_t offset, uint32_t to) {
  uint64_t hash = (from ^ (uint64_t)kind << 56) * 0x9e3779b97f4a7c15ull;
  hash = (hash ^ hash >> 31 ^ ((uint64_t)offset << 32 | to)) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

static struct nvmi_observe_edge *place_of(char kind, uintptr_t from, uint32_t offset, uint32_t to) {
  size_t at = hash_of(kind, from, offset, to) & (slots - 1);
  while (edges[at].kind && !(edges[at].kind == kind && edges[at].from == from &&
                             edges[at].offset == offset && edges[at].to == to))
    at = (at + 1) & (slots - 1);
  return &edges[at];
}

static void grow(void) {
  struct nvmi_observe_edge *old = edges;
  size_t count = slots;
  slots = count ? count * 2 : FIRST_SLOTS;
  edges = nvmi_observe_memory(slots * sizeof *edges);
  for (size_t i = 0; i < count; i++)
    if (old[i].kind)
      *place_of(old[i].kind, old[i].from, old[i].offset, old[i].to) = old[i];
  if (old)
    nvmi_observe_give_back(old, count * sizeof *old);
}

void nvmi_observe_edges_begin(uint64_t number) {
  point = number;
  for (size_t i = 0; i < slots; i++)
    edges[i].now = 0;
}

void nvmi_observe_edge(char kind, uintptr_t from, uint32_t offset, uint32_t to) {
  if (used * 2 >= slots)
    grow();
  struct nvmi_observe_edge *edge = place_of(kind, from, offset, to);
  if (!edge->kind) {
    *edge = (struct nvmi_observe_edge){from, offset, to, 0, 0, point, point, kind};
    used++;
  }
  edge->now++;
  edge->until = point;
}

void nvmi_observe_edges_end(void) {
  for (size_t i = 0; i < slots; i++)
    if (edges[i].now > edges[i].most)
      edges[i].most = edges[i].now;
}

const struct nvmi_observe_edge *nvmi_observe_edges(size_t *count) {
  *count = slots;
  return edges;
}
