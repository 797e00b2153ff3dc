// Warnings are queued while loading and printed later by the main loop; they are no state.
// load: levels_load
// must: lev
// never: warning
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
struct lev { int w, h; char *cells; };
struct warning { char text[120]; struct warning *next; };
static struct lev *levs[32];
static int nlevs;
static struct warning *warnings;
static void warn(const char *fmt, ...) {
  struct warning *w = malloc(sizeof *w);
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(w->text, sizeof w->text, fmt, ap);
  va_end(ap);
  w->next = warnings;
  warnings = w;
}
int levels_load(FILE *f) {
  int w, h;
  while (nlevs < 32 && fscanf(f, "%d %d\n", &w, &h) == 2) {
    if (w > 500 || h > 500) {
      warn("level %d is too large: %dx%d", nlevs, w, h);
      return -1;
    }
    struct lev *l = malloc(sizeof *l);
    l->w = w;
    l->h = h;
    l->cells = malloc((size_t)w * h);
    if (fread(l->cells, w, h, f) != (size_t)h)
      warn("level %d is cut", nlevs);
    levs[nlevs++] = l;
  }
  return nlevs;
}
