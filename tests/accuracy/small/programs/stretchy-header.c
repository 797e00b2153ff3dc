// A growing array whose length stands before its first element, behind macros.
// load: read_waypoints
// must: waypoint
// either: arr_head
#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>
struct arr_head { size_t len, cap; };
#define arr_hdr(a) ((struct arr_head *)((char *)(a) - sizeof(struct arr_head)))
#define arr_len(a) ((a) ? arr_hdr(a)->len : 0)
#define arr_push(a, v) ((a) = arr_grow((a), sizeof *(a)), (a)[arr_hdr(a)->len++] = (v))
static void *arr_grow(void *a, size_t item) {
  size_t len = arr_len(a), cap = a ? arr_hdr(a)->cap : 0;
  if (a && len < cap)
    return a;
  cap = cap ? cap * 2 : 8;
  struct arr_head *h = realloc(a ? arr_hdr(a) : NULL, sizeof *h + cap * item);
  if (!h)
    abort();
  h->len = len;
  h->cap = cap;
  return (char *)h + sizeof *h;
}
struct waypoint { double lat, lon; int altitude; };
static struct waypoint *route;
int read_waypoints(const char *path) {
  FILE *fp = fopen(path, "r");
  struct waypoint w;
  if (!fp)
    return 0;
  while (fscanf(fp, "%lf,%lf,%d", &w.lat, &w.lon, &w.altitude) == 3)
    arr_push(route, w);
  fclose(fp);
  return (int)arr_len(route);
}
