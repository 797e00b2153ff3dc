// Built in a local, copied over the static when it is complete.
// load: load_keymap
// must: keymap
#include <stdio.h>
#include <string.h>
struct keymap { int count; unsigned short code[256]; char *name[256]; };
static struct keymap active;
int load_keymap(const char *p) {
  struct keymap km = {0};
  char n[40];
  unsigned c;
  FILE *f = fopen(p, "r");
  if (!f)
    return -1;
  while (km.count < 256 && fscanf(f, "%u %39s", &c, n) == 2) {
    km.code[km.count] = c;
    km.name[km.count++] = strdup(n);
  }
  fclose(f);
  active = km;
  return 0;
}
