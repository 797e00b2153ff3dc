// Drafts are collected, checked, and published only as a table of plain records; drafts are released one by one.
// load: prices_import
// must: price
// never: draft batch
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct price { char code[8]; long cents; };
struct draft { struct draft *next; char code[8]; char amount[16]; int line; };
struct batch { struct draft *head; int count, bad; };
static struct price *prices;
static int nprices;
static struct draft *draft_new(const char *code, const char *amount, int line) {
  struct draft *d = malloc(sizeof *d);
  snprintf(d->code, sizeof d->code, "%s", code);
  snprintf(d->amount, sizeof d->amount, "%s", amount);
  d->line = line;
  return d;
}
static void batch_release(struct batch *b) {
  struct draft *d;
  while ((d = b->head) != NULL) {
    b->head = d->next;
    free(d);
  }
}
static int batch_read(struct batch *b, FILE *f) {
  char code[8], amount[16];
  for (int line = 1; fscanf(f, "%7s %15s", code, amount) == 2; line++) {
    struct draft *d = draft_new(code, amount, line);
    d->next = b->head;
    b->head = d;
    b->count++;
    if (strspn(amount, "0123456789.") != strlen(amount))
      b->bad++;
  }
  return b->bad;
}
int prices_import(const char *path) {
  struct batch b = {NULL, 0, 0};
  FILE *f = fopen(path, "r");
  if (!f)
    return -1;
  int bad = batch_read(&b, f);
  fclose(f);
  if (!bad) {
    struct price *made = calloc(b.count, sizeof *made);
    int n = 0;
    for (struct draft *d = b.head; d; d = d->next, n++) {
      memcpy(made[n].code, d->code, sizeof made[n].code);
      made[n].cents = (long)(strtod(d->amount, NULL) * 100);
    }
    free(prices);
    prices = made;
    nprices = n;
  }
  batch_release(&b);
  return bad;
}
