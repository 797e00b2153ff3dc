// A constructor of a generic module gives void *; it is no allocation wrapper: no parameter of it
// reaches the size.
// Rule 4: "an ordinary wrapper counts only if a parameter reaches an allocation size, else
// constructors that return void * are swallowed".
// Wrong: 'ledger' or 'line' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct line { // CHECK: line [[@LINE]]
  int amount;
  struct line *next;
};
struct ledger { // CHECK: ledger [[@LINE]]
  struct line *lines;
  int year;
};
static void *books[10];

static void *ledgerCreate(int year) {
  struct ledger *l = malloc(sizeof *l);
  l->lines = NULL;
  l->year = year;
  return l;
}
static void *ledgerAdd(void *ledger, int amount) {
  struct ledger *l = ledger;
  struct line *n = malloc(sizeof *n);
  n->amount = amount;
  n->next = l->lines;
  l->lines = n;
  return n;
}

int load(const char *path) {
  int year, amount;
  FILE *f = fopen(path, "r");
  while (fscanf(f, "%d %d", &year, &amount) == 2) {
    void **book = &books[year % 10];
    if (!*book)
      *book = ledgerCreate(year);
    ledgerAdd(*book, amount);
  }
  fclose(f);
  return 0;
}
