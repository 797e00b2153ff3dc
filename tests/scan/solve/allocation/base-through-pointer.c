// One function makes every object, by a descriptor, and gives it through the address of a pointer:
// what it makes is what that pointer points to.
// Wrong: any of the four missed, or 'lease', for which the allocator is not called, reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

#define OBJECT                                                                                     \
  struct kind *kind;                                                                               \
  int references

struct object { // either
  OBJECT;
};
struct kind {
  size_t size;
  int made;
};
struct host { // CHECK: host [[@LINE]]
  OBJECT;
  int address;
  struct host *next;
};
struct pool { // CHECK: pool [[@LINE]]
  OBJECT;
  int first, last;
  struct pool *next;
};
struct zone { // CHECK: zone [[@LINE]]
  OBJECT;
  long serial;
  struct zone *next;
};
struct class { // CHECK: class [[@LINE]]
  OBJECT;
  char tag;
  struct class *next;
};
struct lease {
  OBJECT;
  int ends;
};
extern struct kind *hostKind, *poolKind, *zoneKind, *classKind;
static struct host *hosts;
static struct pool *pools;
static struct zone *zones;
static struct class *classes;
static struct lease *current;

static int make(struct object **result, struct kind *kind) {
  struct object *made = malloc(kind->size);
  if (!made)
    return -1;
  made->kind = kind;
  made->references = 1;
  *result = made;
  return 0;
}
#define MAKER(name)                                                                                \
  static int name##Make(struct name **result) { return make((struct object **)result, name##Kind); }
MAKER(host)
MAKER(pool)
MAKER(zone)
MAKER(class)

int load(FILE *f) {
  int first, last;
  while (fscanf(f, "%d %d", &first, &last) == 2) {
    struct host *host;
    struct pool *pool;
    struct zone *zone;
    struct class *class;
    hostMake(&host);
    host->address = first;
    host->next = hosts;
    hosts = host;
    poolMake(&pool);
    pool->first = first;
    pool->last = last;
    pool->next = pools;
    pools = pool;
    zoneMake(&zone);
    zone->serial = last;
    zone->next = zones;
    zones = zone;
    classMake(&class);
    class->tag = (char)first;
    class->next = classes;
    classes = class;
  }
  return current ? current->ends : 0;
}
