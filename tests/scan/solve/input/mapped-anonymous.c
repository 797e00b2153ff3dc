// Memory mapped of no file is as from malloc: its size and the variable that takes it say what it is. A
// mapped file is not so: records of several types may follow each other in it.
// Wrong: 'slot' by its use alone, "medium".
// RUN: %scan --load load %s -- -std=gnu99 | FileCheck %s
#include <stdio.h>
#include <sys/mman.h>

// CHECK: slot {{.*}} high
// CHECK: allocated here as 'struct slot'
struct slot {
  int id;
  double value;
  char name[16];
};
static struct slot *slots;
int load(FILE *f) {
  int n = 0;
  void *memory = mmap(NULL, 64 * sizeof(struct slot), PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return -1;
  slots = memory;
  while (n < 64 && fscanf(f, "%d %lf %15s", &slots[n].id, &slots[n].value, slots[n].name) == 3)
    n++;
  return n;
}
