// Errors are gathered, printed and freed.
// load: load_prices
// must: price
// never: complaint
#include <stdio.h>
#include <stdlib.h>
struct complaint { int line; struct complaint *next; };
struct price { int article; int cents; };
static struct price *prices;
static size_t n_prices;
int load_prices(FILE *f) {
  struct complaint *bad = NULL, *c;
  char line[100];
  for (int at = 1; fgets(line, sizeof line, f); at++) {
    struct price p;
    if (sscanf(line, "%d %d", &p.article, &p.cents) != 2) {
      c = malloc(sizeof *c);
      c->line = at;
      c->next = bad;
      bad = c;
      continue;
    }
    prices = realloc(prices, ++n_prices * sizeof p);
    prices[n_prices - 1] = p;
  }
  while ((c = bad)) {
    fprintf(stderr, "line %d\n", c->line);
    bad = c->next;
    free(c);
  }
  return 0;
}
