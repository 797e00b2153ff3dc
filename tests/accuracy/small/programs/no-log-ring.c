// The last messages are kept in a ring.
// load: load_keys
// must: key
// never: logmsg
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct key { unsigned char bytes[32]; struct key *next; };
struct logmsg { long when; char text[80]; };
static struct key *keys;
static struct logmsg ring[16];
static unsigned ring_at;
static void note(const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  ring[ring_at % 16].when = ring_at;
  vsnprintf(ring[ring_at++ % 16].text, 80, fmt, ap);
  va_end(ap);
}
int load_keys(const char *p) {
  FILE *f = fopen(p, "rb");
  unsigned char b[32];
  if (!f) {
    note("cannot open %s", p);
    return -1;
  }
  while (fread(b, 1, 32, f) == 32) {
    struct key *k = malloc(sizeof *k);
    memcpy(k->bytes, b, 32);
    k->next = keys;
    keys = k;
    note("key %02x", b[0]);
  }
  return fclose(f);
}
