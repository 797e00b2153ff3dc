// An object without a name, outside functions, that leads to the data.
//
// RUN: %exit 1 %plan --load load %s -- | FileCheck %s
// CHECK: QUESTION: the load stores what it makes into an object without a name (a compound literal outside
#include <stdio.h>
#include <stdlib.h>
struct node { struct node *next; int n; };
struct index { struct node *head; };
static struct index *const ix = &(struct index){0};
static void load(void) {
  FILE *f = fopen("x", "r");
  int n;
  while (f && fscanf(f, "%d", &n) == 1) {
    struct node *e = malloc(sizeof *e);
    *e = (struct node){ix->head, n};
    ix->head = e;
  }
}
int main(void) {
  load();
  for (struct node *at = ix->head; at; at = at->next)
    printf("%d\n", at->n++);
}
