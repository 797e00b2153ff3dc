// A decoded record on the stack is given to a function that builds the object and has no other
// contact with the input.
// Rule 5: "a tainted record on the stack pulls in the functions it is given to".
// Wrong: 'host' missed; 'hostRecord' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct hostRecord {
  unsigned address;
  unsigned short port;
  char name[64];
};
struct host { // CHECK: host [[@LINE]]
  unsigned address;
  unsigned short port;
  char *name;
  struct host *next;
};
static struct host *hosts[256];

static void addHost(const struct hostRecord *r) {
  struct host *h = malloc(sizeof *h);
  h->address = r->address;
  h->port = r->port;
  h->name = strdup(r->name);
  h->next = hosts[r->address & 255];
  hosts[r->address & 255] = h;
}
static int decode(FILE *f, struct hostRecord *r) {
  return fscanf(f, "%x %hu %63s", &r->address, &r->port, r->name) == 3;
}

int load(const char *path) {
  struct hostRecord r;
  FILE *f = fopen(path, "r");
  while (decode(f, &r))
    addHost(&r);
  fclose(f);
  return 0;
}
