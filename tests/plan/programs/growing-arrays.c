// Arrays that grow, a sorted index, categories in a table of texts.
//
// load: load_inventory
// save: save_inventory
// file: inv.txt
// data: 100 bolt 5 1 iron x
// data: 102 nut 7 1 misc -
// command: add gear 5 2 brass
// command: add cog 1 1 wood
// command: add pin 1 1 iron
// ask: list
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MAXCAT 8
typedef struct {
  int id;
  char name[32];
  int qty;
  double price;
  int cat;
  char *note;
} item_t;
item_t *items;
size_t n_items, cap_items;
item_t **by_name;
size_t n_by_name; /* index, sorted */
char categories[MAXCAT][16] = {"misc"};
int ncat = 1;
int hist[MAXCAT];
static int next_item_id = 100;
static int verbose;
static int cmp(const void *a, const void *b) {
  return strcmp((*(item_t *const *)a)->name, (*(item_t *const *)b)->name);
}
static void reindex(void) {
  by_name = realloc(by_name, n_items * sizeof(item_t *));
  for (size_t i = 0; i < n_items; i++)
    by_name[i] = &items[i];
  qsort(by_name, n_items, sizeof *by_name, cmp);
  n_by_name = n_items;
}
static item_t *append(void) {
  if (n_items == cap_items) {
    cap_items = cap_items ? cap_items * 2 : 2;
    items = realloc(items, cap_items * sizeof(*items));
    if (!items) {
      perror("realloc");
      exit(1);
    }
  }
  item_t *it = &items[n_items++];
  memset(it, 0, sizeof *it);
  return it;
}
static int cat_of(const char *s) {
  int i;
  for (i = 0; i < ncat; i++)
    if (!strcmp(categories[i], s))
      return i;
  if (ncat == MAXCAT)
    return 0;
  strncpy(categories[ncat], s, 15);
  return ncat++;
}
static void add(const char *name, int qty, double price, const char *cat, int id,
                const char *note) {
  item_t *it = append();
  it->id = id ? id : next_item_id++;
  if (id >= next_item_id)
    next_item_id = id + 1;
  strncpy(it->name, name, 31);
  it->qty = qty;
  it->price = price;
  it->cat = cat_of(cat);
  hist[it->cat]++;
  it->note = note ? strdup(note) : NULL;
  reindex();
}
int load_inventory(FILE *f) {
  char n[32], c[16], note[64];
  int id, q;
  double p;
  while (f && fscanf(f, "%d %31s %d %lf %15s %63s", &id, n, &q, &p, c, note) == 6)
    add(n, q, p, c, id, strcmp(note, "-") ? note : NULL);
  return f && ferror(f) ? -1 : 0;
}
void save_inventory(FILE *f) {
  for (size_t i = 0; i < n_items; i++)
    fprintf(f, "%d %s %d %g %s %s\n", items[i].id, items[i].name, items[i].qty, items[i].price,
            categories[items[i].cat], items[i].note ? items[i].note : "-");
}
static void reply(const char *format, ...) {
  va_list values;
  va_start(values, format);
  vprintf(format, values);
  va_end(values);
}
static void run(char *line) {
  char n[32], c[16];
  int q;
  double p;
  if (sscanf(line, "add %31s %d %lf %15s", n, &q, &p, c) == 4) {
    add(n, q, p, c, 0, NULL);
    reply("added %d\n", items[n_items - 1].id);
  } else if (sscanf(line, "sell %31s %d", n, &q) == 2) {
    for (size_t i = 0; i < n_items; i++)
      if (!strcmp(items[i].name, n)) {
        items[i].qty -= q;
        reply("left %d\n", items[i].qty);
        return;
      }
    reply("no such item\n");
  } else if (sscanf(line, "note %31s %15s", n, c) == 2) {
    for (size_t i = 0; i < n_items; i++)
      if (!strcmp(items[i].name, n)) {
        free(items[i].note);
        items[i].note = strdup(c);
        reply("noted\n");
        return;
      }
    reply("no such item\n");
  } else if (sscanf(line, "rm %31s", n) == 1) {
    for (size_t i = 0; i < n_items; i++)
      if (!strcmp(items[i].name, n)) {
        free(items[i].note);
        hist[items[i].cat]--;
        items[i] = items[--n_items];
        reindex();
        reply("removed\n");
        return;
      }
    reply("no such item\n");
  } else if (!strncmp(line, "list", 4)) {
    for (size_t i = 0; i < n_by_name; i++)
      reply("%d:%s:%d:%s:%s ", by_name[i]->id, by_name[i]->name, by_name[i]->qty,
            categories[by_name[i]->cat], by_name[i]->note ? by_name[i]->note : "");
    for (int i = 0; i < ncat; i++)
      reply("%s=%d ", categories[i], hist[i]);
    reply("\n");
  } else
    reply("syntax\n");
}
int main(int argc, char **argv) {
  char *line = NULL;
  size_t cap = 0;
  FILE *f;
  setvbuf(stdout, NULL, _IOLBF, 0);
  verbose = argc > 1;
  f = fopen("inv.txt", "r");
  if (load_inventory(f))
    return 1;
  if (f)
    fclose(f);
  while (getline(&line, &cap, stdin) > 0)
    run(line);
  if ((f = fopen("inv.txt", "w"))) {
    save_inventory(f);
    fclose(f);
  }
  free(line);
  return 0;
}
