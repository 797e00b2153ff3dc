// --algorithm=nvmove, optimisation (b): "treating strcpy/memcpy/memmove and similar functions as
// assignment operations".
// Wrong: the types that only library calls write are missed with (b), or reported without it.
// RUN: %scan --format=json --load load --algorithm=nvmove %s -- \
// RUN:   | %types --check-prefixes=CHECK,LIB
// RUN: %scan --format=json --load load --algorithm=nvmove --nvmove-opts=acd %s -- | %types
#include <stdio.h>
#include <string.h>

struct copied { // LIB: copied [[@LINE]]
  int a, b;
};
struct moved { // LIB: moved [[@LINE]]
  int a, b;
};
struct named { // LIB: named [[@LINE]]
  char text[16];
};
struct assigned { // CHECK: assigned [[@LINE]]
  int a;
};
static struct copied copied;
static struct moved moved[2];
static struct named named;
static struct assigned assigned;

static void keep(struct copied *c, const char *bytes) {
  memcpy(c, bytes, sizeof *c);
  memmove(&moved[1], &moved[0], sizeof *moved);
  strcpy(named.text, bytes);
  assigned.a = *bytes;
}
int load(FILE *f) {
  char bytes[64];
  if (fgets(bytes, sizeof bytes, f))
    keep(&copied, bytes);
  return 0;
}
