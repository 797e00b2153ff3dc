// Sections of the file are read by functions that modules register by name at start-up.
// FINDINGS: "handlers registered by name".
// Wrong: nothing ('entry of the registry' unresolved); 'handler' (registry, no data of the file).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void section_reader(FILE *f, int count);
struct handler {
  char name[16];
  section_reader *read;
  struct handler *next;
};
static struct handler *handlers;

void registerSection(const char *name, section_reader *read) {
  struct handler *h = malloc(sizeof *h);
  strncpy(h->name, name, sizeof h->name - 1);
  h->read = read;
  h->next = handlers;
  handlers = h;
}
static struct handler *find(const char *name) {
  struct handler *h;
  for (h = handlers; h; h = h->next)
    if (!strcmp(h->name, name))
      return h;
  return NULL;
}

struct user { // CHECK: user [[@LINE]]
  int id;
  struct user *next;
};
struct group { // CHECK: group [[@LINE]]
  int id, members;
  struct group *next;
};
static struct user *users;
static struct group *groups;

static void readUsers(FILE *f, int count) {
  while (count--) {
    struct user *u = malloc(sizeof *u);
    fscanf(f, "%d", &u->id);
    u->next = users;
    users = u;
  }
}
static void readGroups(FILE *f, int count) {
  while (count--) {
    struct group *g = malloc(sizeof *g);
    fscanf(f, "%d %d", &g->id, &g->members);
    g->next = groups;
    groups = g;
  }
}

void startModules(void) {
  registerSection("users", readUsers);
  registerSection("groups", readGroups);
}

int load(const char *path) {
  char name[16];
  int count;
  FILE *f = fopen(path, "r");
  while (fscanf(f, "%15s %d", name, &count) == 2) {
    struct handler *h = find(name);
    if (h)
      h->read(f, count);
  }
  fclose(f);
  return 0;
}
