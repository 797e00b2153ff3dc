// A list that a macro with a statement expression builds.
// load: read_book
// must: person
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct person { char name[40]; char phone[20]; struct person *next; };
static struct person *book;
#define NEW(type) ({ type *made_ = malloc(sizeof(type)); if (!made_) abort(); memset(made_, 0, sizeof *made_); made_; })
int read_book(const char *path) {
  FILE *in = fopen(path, "r");
  char name[40], phone[20];
  if (!in)
    return -1;
  while (fscanf(in, "%39s %19s", name, phone) == 2) {
    struct person *p = NEW(struct person);
    strcpy(p->name, name);
    strcpy(p->phone, phone);
    p->next = book;
    book = p;
  }
  return fclose(in);
}
