/* trace_points.c: the points of a run: places in the source, each with the calls that led there.
 *
 * What is compiled with --nvmove-trace keeps its frame pointers, so its callers are a chain in the
 * thread's stack, which ends at code without them. The chain is followed upwards within that stack
 * only: whatever that code left in the register, nothing is read that is not there. On another
 * stack (a signal's, a coroutine's) a point is its place alone.
 */
#define _GNU_SOURCE
#include "trace/trace_points.h"

#include "trace/trace_file.h"
#include "trace/trace_state.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
  POINTS_MAX = 1 << 18,
  CROWDED = POINTS_MAX / 2,              /* from then on points are their places alone */
  PLACES_MAX = POINTS_MAX - CROWDED / 2, /* so that a search ends soon */
  TEXT = 1 << 15
};

static struct point {
  const struct nvm_site *site;
  uint64_t callers; /* their hash */
} *points;          /* by hash; a point's number is its slot + 1 */
static unsigned point_count;
const struct nvm_site nvmi_trace_elsewhere;

__attribute__((no_sanitize("address"))) void nvmi_trace_callers(struct nvmi_callers *callers,
                                                                const void *frame, uintptr_t stack,
                                                                uintptr_t stack_end) {
  uintptr_t at = (uintptr_t)frame, last = 0;
  callers->count = 0;
  while (at >= stack && at < stack_end - 2 * sizeof(uintptr_t) && at % sizeof(uintptr_t) == 0 &&
         callers->count < NVMI_CALLERS_MAX) {
    const uintptr_t *words = (const uintptr_t *)at; /* the caller's frame, the return address */
    if (words[1] != last)
      callers->address[callers->count++] = words[1];
    last = words[1];
    if (words[0] <= at)
      break;
    at = words[0];
  }
}

static const char *program(void) {
  static char path[PATH_MAX];
  if (!path[0] && readlink("/proc/self/exe", path, sizeof path - 1) < 0)
    path[0] = '?';
  return path;
}

/* Without a lock, unlike dladdr: the loader may be at work. */
static size_t name_caller(char *to, size_t room, uintptr_t address) {
  struct dl_find_object object;
  int length = 0;
  if (_dl_find_object((void *)address, &object) == 0) {
    const struct link_map *module = object.dlfo_link_map;
    length = snprintf(to, room, "%s+0x%zx", *module->l_name ? module->l_name : program(),
                      (size_t)(address - module->l_addr));
  }
  return length > 0 && (size_t)length < room ? (size_t)length + 1 : 0;
}

static void tell_point(uint64_t number, const struct nvm_site *site,
                       const struct nvmi_callers *callers) {
  static char text[TEXT];
  uint32_t place[2] = {site->line, site->column};
  memcpy(text, place, sizeof place);
  size_t used = sizeof place;
  used += (size_t)snprintf(text + used, PATH_MAX, "%s", site->file ? site->file : "") + 1;
  used = used < sizeof place + PATH_MAX ? used : sizeof place + PATH_MAX;
  size_t field = (size_t)snprintf(text + used, PATH_MAX, "%s", site->field ? site->field : "") + 1;
  used += field < PATH_MAX ? field : PATH_MAX;
  for (unsigned i = 0; callers && i < callers->count; i++)
    used += name_caller(text + used, TEXT - used, callers->address[i]);
  nvmi_trace_put(0, NVM_TRACE_SITE, site == &nvmi_trace_elsewhere, number, text, used);
}

static uint64_t hash_of(const struct nvmi_callers *callers) {
  uint64_t hash = 0;
  for (unsigned i = 0; callers && i < callers->count; i++)
    hash = (hash ^ callers->address[i]) * UINT64_C(0x9e3779b97f4a7c15) + (hash >> 29);
  return hash;
}

uint64_t nvmi_trace_point(const struct nvm_site *site, const struct nvmi_callers *callers) {
  if (!points)
    points = nvmi_trace_reserve(POINTS_MAX * sizeof *points);
  struct point wanted = {site, point_count < CROWDED ? hash_of(callers) : 0};
  uint64_t slot =
      (((uintptr_t)site >> 4) + wanted.callers) * UINT64_C(0x9e3779b97f4a7c15) >> (64 - 18);
  while (points[slot].site && (points[slot].site != site || points[slot].callers != wanted.callers))
    slot = (slot + 1) % POINTS_MAX;
  if (!points[slot].site) {
    if (point_count == PLACES_MAX)
      nvmi_die(NULL,
               "a trace of more than %u places in the source; compile fewer files with "
               "--nvmove-trace",
               point_count);
    point_count++;
    points[slot] = wanted;
    tell_point(slot + 1, site, wanted.callers ? callers : NULL);
  }
  return slot + 1;
}
