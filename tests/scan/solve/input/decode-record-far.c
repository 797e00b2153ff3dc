// A decode record on the heap is handed through more calls than what is built may be: until it is
// linked to memory older than the load it is input itself.
// FINDINGS: decode records whose content is moved into heap objects.
// Wrong: 'item' missed, or 'raw' found.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct raw {
  int id, amount;
};
struct item { // CHECK: item [[@LINE]]
  int id, amount;
  struct item *next;
};
static struct item *items;

static void build(struct raw *r) {
  struct item *i = malloc(sizeof *i);
  i->id = r->id;
  i->amount = r->amount;
  i->next = items;
  items = i;
}
static void step9(struct raw *r) { build(r); }
static void step8(struct raw *r) { step9(r); }
static void step7(struct raw *r) { step8(r); }
static void step6(struct raw *r) { step7(r); }
static void step5(struct raw *r) { step6(r); }
static void step4(struct raw *r) { step5(r); }
static void step3(struct raw *r) { step4(r); }
static void step2(struct raw *r) { step3(r); }
static void step1(struct raw *r) { step2(r); }

int load(const char *path) {
  FILE *f = fopen(path, "r");
  struct raw *r = malloc(sizeof *r);
  while (fscanf(f, "%d %d", &r->id, &r->amount) == 2)
    step1(r);
  free(r);
  fclose(f);
  return 0;
}
