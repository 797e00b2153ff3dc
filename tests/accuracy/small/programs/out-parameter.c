// A reader of one record gives it through a parameter.
// load: load_orders
// must: order
#include <stdio.h>
#include <stdlib.h>
enum { OK, END, NOMEM };
struct order { unsigned id, amount; struct order *next; };
static struct order *orders;
static int read_order(FILE *f, struct order **out) {
  unsigned id, amount;
  if (fscanf(f, "%u:%u", &id, &amount) != 2)
    return END;
  if (!(*out = malloc(sizeof **out)))
    return NOMEM;
  (*out)->id = id;
  (*out)->amount = amount;
  return OK;
}
int load_orders(FILE *f) {
  struct order *o;
  int rc;
  while ((rc = read_order(f, &o)) == OK) {
    o->next = orders;
    orders = o;
  }
  return rc == END ? 0 : rc;
}
