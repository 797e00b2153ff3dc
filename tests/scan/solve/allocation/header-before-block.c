// The allocator puts a header of its own before each block and gives out what lies behind it:
// "sizeof(T) + n" is not "n * sizeof(T)".
// Wrong: 'zone' missed, or 'tag' reported, which nobody keeps.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct policy {
  void *(*allocate)(size_t size);
};
struct tag {
  struct policy *owner;
};
static void *fromLibrary(size_t size) { return calloc(1, size); }
static struct policy defaultPolicy = {fromLibrary};

static void *allocateArray(struct policy *policy, size_t size, size_t count) {
  void *block = policy->allocate(size * count + sizeof(struct tag));
  ((struct tag *)block)->owner = policy;
  return (char *)block + sizeof(struct tag);
}
static void *allocate(size_t size) { return allocateArray(&defaultPolicy, size, 1); }

struct zone { // CHECK: zone [[@LINE]]
  long serial;
  struct zone *next;
  int records;
};
static struct zone *zones;

int load(FILE *f) {
  long serial;
  while (fscanf(f, "%ld", &serial) == 1) {
    struct zone *z = allocate(sizeof *z);
    z->serial = serial;
    z->next = zones;
    zones = z;
  }
  return 0;
}
