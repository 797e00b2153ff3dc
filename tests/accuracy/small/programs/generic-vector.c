// A vector of void pointers, used for two types.
// load: load_shop
// must: product customer vec
// flags: -std=c11
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct vec { void **items; int n, room; } vec;
struct product { int id; double price; };
struct customer { int id; char name[40]; };
static vec *vec_new(void) { return calloc(1, sizeof(vec)); }
static void vec_add(vec *v, void *item) {
  if (v->n == v->room) {
    v->room = v->room ? v->room * 2 : 4;
    v->items = realloc(v->items, v->room * sizeof(void *));
  }
  v->items[v->n++] = item;
}
static vec *products, *customers;
void load_shop(FILE *f) {
  char kind;
  products = vec_new();
  customers = vec_new();
  while (fscanf(f, " %c", &kind) == 1)
    if (kind == 'p') {
      struct product *p = malloc(sizeof *p);
      fscanf(f, "%d %lf", &p->id, &p->price);
      vec_add(products, p);
    } else {
      struct customer *c = malloc(sizeof *c);
      fscanf(f, "%d %39s", &c->id, c->name);
      vec_add(customers, c);
    }
}
