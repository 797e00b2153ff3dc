// Callbacks in a table with a context, as JSON libraries of streams have them.
// load: load_devices
// must: device
// either: build
// never: callbacks
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct device { char *name; long serial; struct device *next; };
struct build { struct device *devices; char key[32]; };
struct callbacks { int (*start)(void *); int (*key)(void *, const char *); int (*string)(void *, const char *); int (*number)(void *, long); };
static int on_start(void *c) {
  struct build *b = c;
  struct device *d = calloc(1, sizeof *d);
  d->next = b->devices;
  b->devices = d;
  return 1;
}
static int on_key(void *c, const char *k) { struct build *b = c; snprintf(b->key, sizeof b->key, "%s", k); return 1; }
static int on_string(void *c, const char *s) { struct build *b = c; if (!strcmp(b->key, "name")) b->devices->name = strdup(s); return 1; }
static int on_number(void *c, long n) { struct build *b = c; b->devices->serial = n; return 1; }
static const struct callbacks table = {on_start, on_key, on_string, on_number};
static int parse(FILE *f, const struct callbacks *cb, void *ctx) {
  char w[64];
  while (fscanf(f, "%63s", w) == 1) {
    if (!strcmp(w, "{"))
      cb->start(ctx);
    else if (w[0] == '"')
      cb->string(ctx, w + 1);
    else if (w[0] >= '0' && w[0] <= '9')
      cb->number(ctx, strtol(w, 0, 10));
    else
      cb->key(ctx, w);
  }
  return 1;
}
static struct build state;
int load_devices(const char *path) {
  FILE *f = fopen(path, "r");
  int ok = f && parse(f, &table, &state);
  if (f)
    fclose(f);
  return ok;
}
