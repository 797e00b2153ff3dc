// The struct has no name at all.
// load: load_aliases
// must: (unnamed struct at unnamed-array.c:8)
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static
struct { char *from, *to; } *aliases;
static int count;
int load_aliases(FILE *f) {
  char from[64], to[64];
  while (fscanf(f, "%63s %63s", from, to) == 2) {
    aliases = realloc(aliases, (count + 1) * sizeof *aliases);
    aliases[count].from = strdup(from);
    aliases[count].to = strdup(to);
    count++;
  }
  return count;
}
