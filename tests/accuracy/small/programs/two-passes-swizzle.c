// Records refer to each other by number in the file; a second pass turns numbers into pointers.
// load: net_load
// must: station track net
// never: raw_track
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
struct track;
struct station { uint32_t id; char name[24]; struct track **out; uint32_t nout; };
struct track { struct station *from, *to; uint32_t metres; };
struct net { struct station *stations; uint32_t nstations; struct track *tracks; uint32_t ntracks; };
struct raw_track { uint32_t from, to, metres; };
static int by_id(const void *a, const void *b) {
  const struct station *x = a, *y = b;
  return x->id < y->id ? -1 : x->id > y->id;
}
static struct station *lookup(struct net *n, uint32_t id) {
  struct station key = {.id = id};
  return bsearch(&key, n->stations, n->nstations, sizeof key, by_id);
}
struct net *net_load(FILE *f) {
  uint32_t counts[2];
  if (fread(counts, sizeof *counts, 2, f) != 2)
    return NULL;
  struct net *n = calloc(1, sizeof *n);
  n->nstations = counts[0];
  n->ntracks = counts[1];
  n->stations = calloc(n->nstations, sizeof *n->stations);
  n->tracks = calloc(n->ntracks, sizeof *n->tracks);
  for (uint32_t i = 0; i < n->nstations; i++) {
    fread(&n->stations[i].id, 4, 1, f);
    fread(n->stations[i].name, 1, sizeof n->stations[i].name, f);
  }
  qsort(n->stations, n->nstations, sizeof *n->stations, by_id);
  struct raw_track *raw = malloc(n->ntracks * sizeof *raw);
  if (fread(raw, sizeof *raw, n->ntracks, f) != n->ntracks)
    goto bad;
  for (uint32_t i = 0; i < n->ntracks; i++) {
    struct track *t = &n->tracks[i];
    t->from = lookup(n, raw[i].from);
    t->to = lookup(n, raw[i].to);
    t->metres = raw[i].metres;
    if (!t->from || !t->to)
      goto bad;
    t->from->out = realloc(t->from->out, (t->from->nout + 1) * sizeof *t->from->out);
    t->from->out[t->from->nout++] = t;
  }
  free(raw);
  return n;
bad:
  free(raw);
  free(n->stations);
  free(n->tracks);
  free(n);
  return NULL;
}
