// Objects are filled by compound literals; one is passed by address to the function that keeps it.
// C99 compound literals and designated initialisers.
// Wrong: 'pin' missed, or 'wire', which hangs in the literal only.
// RUN: %scan --format=json --load load %s -- -std=c99 | %types
#include <stdio.h>
#include <stdlib.h>

struct pin { // CHECK: pin [[@LINE]]
  int number;
  struct pin *next;
};
struct wire { // CHECK: wire [[@LINE]]
  int color;
};
struct net { // CHECK: net [[@LINE]]
  struct wire *wire;
  struct net *next;
};
static struct pin *pins;
static struct net *nets;

static void keep(const struct net *n) {
  struct net *made = malloc(sizeof *made);
  *made = *n;
  made->next = nets;
  nets = made;
}

int load(FILE *f) {
  int number;
  while (fscanf(f, "%d", &number) == 1) {
    struct pin *p = malloc(sizeof *p);
    struct wire *w = malloc(sizeof *w);
    *p = (struct pin){.number = number, .next = pins};
    pins = p;
    *w = (struct wire){number & 7};
    keep(&(struct net){.wire = w});
  }
  return 0;
}
