// The load function receives an open descriptor.
// Load forms: int fd.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdlib.h>
#include <unistd.h>

struct order { // CHECK: order [[@LINE]]
  int number, amount;
  struct order *next;
};
struct options { // either
  int strict;
};
static struct order *orders;
static struct options *options;

int load(int fd, int strict) {
  int number;
  options = malloc(sizeof *options);
  options->strict = strict;
  while (read(fd, &number, sizeof number) == sizeof number) {
    struct order *o = malloc(sizeof *o);
    o->number = number;
    read(fd, &o->amount, sizeof o->amount);
    o->next = orders;
    orders = o;
  }
  return 0;
}
