// The output of a command.
// load: load_packages
// must: package
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct package { struct package *next; char *name; char *version; };
struct package *installed;
int load_packages(void) {
  char n[128], v[128];
  FILE *p = popen("pkg list", "r");
  if (!p)
    return -1;
  while (fscanf(p, "%127s %127s", n, v) == 2) {
    struct package *pk = malloc(sizeof(struct package));
    pk->name = strdup(n);
    pk->version = strdup(v);
    pk->next = installed;
    installed = pk;
  }
  return pclose(p);
}
