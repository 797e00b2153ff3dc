// One kind of list for what is kept and for what is not: its nodes go where the list is. A text that main copies
// beside other things has no scope of its own: that is a question.
//
// RUN: %plan --load load --save save %s -- | FileCheck %s
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node { struct node *next; void *value; };
struct list { struct node *first; };
struct client { int number; };
static struct list *texts, *clients;

static struct list *list_new(void) { return calloc(1, sizeof(struct list)); }
static void list_add(struct list *list, void *value) {
  struct node *made = malloc(sizeof *made);
  made->value = value;
  made->next = list->first;
  list->first = made;
}
static void answer(const char *text) {
  puts(text);
  fflush(stdout);
}
static void load(void) {
  FILE *f = fopen("texts", "r");
  char line[80];
  while (f && fgets(line, sizeof line, f))
    list_add(texts, strdup(line));
}
static void save(void) {
  FILE *f = fopen("texts", "w");
  for (struct node *n = texts->first; f && n; n = n->next)
    fputs(n->value, f);
}
int main(void) {
  char line[80];
  static int number;
  texts = list_new();
  clients = list_new();
  load();
  while (fgets(line, sizeof line, stdin)) {
    struct client *client = malloc(sizeof *client);
    client->number = number++;
    list_add(clients, client);
    list_add(texts, strdup(line));
    answer(line);
  }
  save();
}

// CHECK: # QUESTION: main allocates bytes (containers.c:45), which may be linked to the data
// CHECK: persistent:
// CHECK-DAG: - load
// CHECK-DAG: - texts {{.*}} allocates struct list
// CHECK: beside:
// CHECK-NEXT: - list_add {{.*}} allocates struct node
// CHECK-NOT: volatile:
// CHECK: roots:
// CHECK-NEXT: - {name: texts}
// CHECK-NOT: {name: clients
// CHECK: commit:
// CHECK-NEXT: - answer
