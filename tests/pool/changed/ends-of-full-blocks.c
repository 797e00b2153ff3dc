/* prints right */
#include "checked.h"
/* Arrays that fill their blocks, one behind the other. What lies behind an array is its end for a vector, and for a
 * buffer, whose types do not change; for a list it is the next item, for an entry its second text. */
enum { MANY = 1000, ITEMS = 8, SIZE = 64 };
struct item {
#if V == 1
  long added;
#endif
  struct item *next, *back;
  long value, more;
};
struct number {
#if V == 1
  long added;
#endif
  int value, more;
};
struct vector {
  struct number *begin, *end;
};
struct buffer {
  char *from, *to;
};
struct entry {
#if V == 1
  int hash;
#endif
  char *key, *text;
};
struct all {
  struct vector some[MANY];
  struct buffer buffers[MANY];
  struct item *first;
  struct entry *entries[MANY];
};
#if V == 0
void fill(NVM_POOL *P) {
  struct all *all = NEW(struct all);
  struct item *last = NULL;
  for (int i = 0; i < MANY; i++) {
    int count = i % 3 ? ITEMS : ITEMS - 1;
    all->some[i].begin = NEWN(struct number, count);
    all->some[i].end = all->some[i].begin + count;
    for (int k = 0; k < count; k++)
      all->some[i].begin[k].value = i + k;
  }
  for (int i = 0; i < MANY; i++) {
    all->buffers[i].from = NEWN(char, SIZE);
    all->buffers[i].to = all->buffers[i].from + SIZE;
  }
  for (int i = 0; i < MANY; i++) {
    struct item *slab = NEWN(struct item, ITEMS);
    for (int k = 0; k < ITEMS; last = &slab[k++]) {
      slab[k].value = i * ITEMS + k;
      slab[k].back = last;
      *(last ? &last->next : &all->first) = &slab[k];
    }
  }
  for (int i = 0; i < MANY; i++) {
    all->entries[i] = NEW(struct entry);
    all->entries[i]->key = nvm_alloc(P, 0, 16);
    all->entries[i]->text = nvm_alloc(P, 0, 16);
    snprintf(all->entries[i]->key, 16, "key %d", i);
    snprintf(all->entries[i]->text, 16, "text %d", i);
  }
  nvm_pool_set_root(P, all);
}
#else
void check(NVM_POOL *P) {
  struct all *all = nvm_pool_root(P);
  struct item *item = all->first, *last = NULL;
  char text[16];
  for (int i = 0; i < MANY; i++) {
    int count = i % 3 ? ITEMS : ITEMS - 1;
    C(all->some[i].end - all->some[i].begin == count);
    C(all->buffers[i].to - all->buffers[i].from == SIZE);
    C(all->some[i].begin->value == i && all->some[i].end[-1].value == i + count - 1);
    snprintf(text, sizeof text, "key %d", i);
    C(strcmp(all->entries[i]->key, text) == 0);
    snprintf(text, sizeof text, "text %d", i);
    C(strcmp(all->entries[i]->text, text) == 0);
  }
  for (int i = 0; i < MANY * ITEMS; i++, last = item, item = item->next)
    C(item && item->value == i && item->back == last);
  C(!item);
}
#endif
