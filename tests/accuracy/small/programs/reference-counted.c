// Blobs are shared by name and counted.
// load: load_store
// must: blob link
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct blob { int refs; unsigned len; char *bytes; struct blob *all; };
struct link { char *name; struct blob *to; struct link *next; };
static struct blob *blobs;
static struct link *links;
static struct blob *get(struct blob *b) { b->refs++; return b; }
static void put(struct blob *b) { if (!--b->refs) { free(b->bytes); free(b); } }
static struct blob *blob_of(const char *text) {
  for (struct blob *b = blobs; b; b = b->all)
    if (!strcmp(b->bytes, text))
      return get(b);
  struct blob *b = malloc(sizeof *b);
  b->refs = 1;
  b->len = strlen(text);
  b->bytes = strdup(text);
  b->all = blobs;
  blobs = b;
  return b;
}
void load_store(FILE *f) {
  char name[64], text[512];
  while (fscanf(f, "%63s %511[^\n]", name, text) == 2) {
    struct blob *b = blob_of(text);
    struct link *l = malloc(sizeof *l);
    if (!l) {
      put(b);
      return;
    }
    l->name = strdup(name);
    l->to = b;
    l->next = links;
    links = l;
  }
}
