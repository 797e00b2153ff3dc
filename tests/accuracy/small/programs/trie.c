// A trie with an array of children.
// load: load_dictionary
// must: trie
#include <stdio.h>
#include <stdlib.h>
struct trie { struct trie *kid[26]; int terminal; };
static struct trie *root;
void load_dictionary(FILE *f) {
  int c;
  struct trie *at;
  if (!root)
    root = calloc(1, sizeof *root);
  at = root;
  while ((c = fgetc(f)) != EOF) {
    if (c < 'a' || c > 'z') {
      at->terminal = 1;
      at = root;
      continue;
    }
    if (!at->kid[c - 'a'])
      at->kid[c - 'a'] = calloc(1, sizeof *at);
    at = at->kid[c - 'a'];
  }
}
