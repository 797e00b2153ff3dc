// Files and buffers close themselves.
// load: load_hosts
// must: host
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct host { char *name; unsigned char ip[4]; struct host *next; };
static void close_file(FILE **f) { if (*f) fclose(*f); }
static void free_text(char **t) { free(*t); }
static struct host *hosts;
int load_hosts(const char *p) {
  __attribute__((cleanup(close_file))) FILE *f = fopen(p, "r");
  __attribute__((cleanup(free_text))) char *line = malloc(256);
  if (!f || !line)
    return -1;
  while (fgets(line, 256, f)) {
    unsigned a, b, c, d;
    char name[100];
    if (sscanf(line, "%u.%u.%u.%u %99s", &a, &b, &c, &d, name) != 5)
      continue;
    struct host *h = malloc(sizeof *h);
    h->name = strdup(name);
    h->ip[0] = a, h->ip[1] = b, h->ip[2] = c, h->ip[3] = d;
    h->next = hosts;
    hosts = h;
  }
  return 0;
}
