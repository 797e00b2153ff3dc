// A hash table with a type of callbacks: hash, compare and the destructor of values. Another table
// of the program has a destructor that does much more than free.
// FINDINGS: "dictType destructors drag in Sentinel"; rule 1.
// Wrong: 'monitor' or 'connection' (reached only by the destructor of the other table).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table;
struct tableType { // either
  unsigned (*hash)(const void *key);
  int (*same)(const void *a, const void *b);
  void (*destroy)(void *value);
};
struct entry { // CHECK: entry [[@LINE]]
  void *key, *value;
  struct entry *next;
};
struct table { // CHECK: table [[@LINE]]
  struct tableType *type;
  struct entry **buckets;
  unsigned size, used;
};

static struct table *tableNew(struct tableType *type, unsigned size) {
  struct table *t = malloc(sizeof *t);
  t->type = type;
  t->buckets = calloc(size, sizeof(struct entry *));
  t->size = size;
  t->used = 0;
  return t;
}
static void tableSet(struct table *t, void *key, void *value) {
  unsigned slot = t->type->hash(key) % t->size;
  struct entry *e;
  for (e = t->buckets[slot]; e; e = e->next)
    if (t->type->same(key, e->key)) {
      t->type->destroy(e->value);
      e->value = value;
      return;
    }
  e = malloc(sizeof *e);
  e->key = key;
  e->value = value;
  e->next = t->buckets[slot];
  t->buckets[slot] = e;
  ++t->used;
}

static unsigned hashText(const void *key) { return strlen(key); }
static int sameText(const void *a, const void *b) { return !strcmp(a, b); }
static void destroyPlain(void *value) { free(value); }

struct connection {
  int fd;
  struct connection *next;
};
static struct connection *closing;
struct monitor {
  struct connection *link;
  struct monitor *next;
};
static struct monitor *retired;
static void destroyMonitor(void *value) {
  struct monitor *m = value, *copy = malloc(sizeof *copy);
  struct connection *c = malloc(sizeof *c);
  c->fd = m->link->fd;
  c->next = closing;
  closing = c;
  *copy = *m;
  copy->next = retired;
  retired = copy;
  free(m);
}

static struct tableType plainType = {hashText, sameText, destroyPlain};
static struct tableType monitorType = {hashText, sameText, destroyMonitor};
static struct table *values, *monitors;

void startMonitors(void) { monitors = tableNew(&monitorType, 16); }
void addMonitor(char *name, struct monitor *m) { tableSet(monitors, name, m); }

struct value { // CHECK: value [[@LINE]]
  long number;
};

int load(const char *path) {
  char name[64];
  long number;
  FILE *f = fopen(path, "r");
  values = tableNew(&plainType, 1024);
  while (fscanf(f, "%63s %ld", name, &number) == 2) {
    struct value *v = malloc(sizeof *v);
    v->number = number;
    tableSet(values, strdup(name), v);
  }
  fclose(f);
  return 0;
}
