// Sorted tree with parent links, below a global.
// load: load_index
// must: inode
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct inode { struct inode *l, *r, *up; char word[20]; int page; } *idx_root;
static void put(const char *w, int page) {
  struct inode **at = &idx_root, *up = NULL;
  while (*at) {
    up = *at;
    at = strcmp(w, up->word) < 0 ? &up->l : &up->r;
  }
  *at = calloc(1, sizeof **at);
  (*at)->up = up;
  (*at)->page = page;
  strncpy((*at)->word, w, 19);
}
void load_index(const char *name) {
  char w[20];
  int p;
  FILE *f = fopen(name, "r");
  if (!f)
    return;
  while (fscanf(f, "%19s %d", w, &p) > 0)
    put(w, p);
  fclose(f);
}
