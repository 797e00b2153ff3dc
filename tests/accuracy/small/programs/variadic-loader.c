// A dispatcher fills what its variable arguments point to.
// load: load_stars
// must: star
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
struct star { uint32_t id; uint16_t mag; int32_t ra, dec; };
static struct star *sky;
static int n_sky;
static int get(FILE *f, const char *how, ...) {
  va_list ap;
  unsigned char b[4];
  va_start(ap, how);
  for (; *how; how++) {
    if (fread(b, 1, *how == 'h' ? 2 : 4, f) == 0)
      return 0;
    if (*how == 'h')
      *va_arg(ap, uint16_t *) = b[0] | b[1] << 8;
    else
      *va_arg(ap, uint32_t *) = b[0] | b[1] << 8 | b[2] << 16 | (uint32_t)b[3] << 24;
  }
  va_end(ap);
  return 1;
}
int load_stars(FILE *f) {
  struct star s;
  while (get(f, "ihii", &s.id, &s.mag, &s.ra, &s.dec)) {
    sky = realloc(sky, (n_sky + 1) * sizeof *sky);
    sky[n_sky++] = s;
  }
  return n_sky;
}
