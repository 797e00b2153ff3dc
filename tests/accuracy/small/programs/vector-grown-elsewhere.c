// The container makes a slot, its user fills it.
// load: read_words
// must: word
// either: lexicon
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct word { char text[24]; unsigned hits; };
struct lexicon { struct word *words; size_t used, room; };
static struct lexicon lex;
static size_t slot(struct lexicon *l) {
  if (l->used == l->room) {
    l->room = l->room * 2 + 4;
    l->words = realloc(l->words, l->room * sizeof(struct word));
  }
  return l->used++;
}
void read_words(FILE *f) {
  char buf[24];
  while (fscanf(f, "%23s", buf) == 1) {
    size_t i = slot(&lex);
    strcpy(lex.words[i].text, buf);
    lex.words[i].hits = 1;
  }
}
