/* prints right */
#include "checked.h"
/* Blocks that are full, one behind the other, and pointers of many kinds between them: the end of a block has the
 * address of the next one. */
enum { MANY = 1000, TEXT = 64 };
struct item {
  long number;
  char bytes[TEXT - sizeof(long)];
#if V == 1
  long added;
#endif
};
struct place {
  struct item *at;
};
struct named {
  char *name;   // of TEXT characters
  char *object; // cast: an item
};
struct all {
  struct {
    struct item *begin, *end; // one item
  } single[MANY];
  struct {
    struct place begin, end; // two items
  } iterators[MANY];
  struct {
    unsigned char *top;
    const char *limit;
  } stacks[MANY];
  struct {
    int *begin, *end; // in a block without type
    struct item *behind;
  } numbers[MANY];
  struct named named[MANY];
  struct {
    char *key, *value;
  } pairs[MANY];
};
#if V == 0
void fill(NVM_POOL *P) {
  struct all *all = NEW(struct all);
  for (int i = 0; i < MANY; i++) {
    all->single[i].begin = NEW(struct item);
    all->single[i].end = all->single[i].begin + 1;
  }
  for (int i = 0; i < MANY; i++) {
    all->iterators[i].begin.at = NEWN(struct item, 2);
    all->iterators[i].end.at = all->iterators[i].begin.at + 2;
  }
  for (int i = 0; i < MANY; i++) {
    char *stack = NEWN(char, TEXT);
    all->stacks[i].limit = stack + TEXT;
    all->stacks[i].top = (unsigned char *)stack + i % TEXT;
  }
  for (int i = 0; i < MANY; i++) {
    all->numbers[i].begin = nvm_calloc(P, 0, 1, TEXT);
    all->numbers[i].end = all->numbers[i].begin + TEXT / sizeof(int);
    all->numbers[i].behind = i % 3 ? NULL : NEW(struct item);
  }
  for (int i = 0; i < MANY; i++) {
    all->named[i].name = NEWN(char, TEXT);
    all->named[i].object = (char *)NEW(struct item);
    ((struct item *)all->named[i].object)->number = i;
  }
  for (int i = 0; i < MANY; i++) {
    all->pairs[i].key = NEWN(char, TEXT);
    all->pairs[i].value = NEWN(char, TEXT);
    all->pairs[i].value[0] = (char)i;
    if (i % 3 == 0)
      NEW(struct item); // nothing leads there
  }
  nvm_pool_set_root(P, all);
}
#else
void check(NVM_POOL *P) {
  struct all *all = nvm_pool_root(P);
  for (int i = 0; i < MANY; i++) {
    C(all->single[i].end == all->single[i].begin + 1);
    C(all->iterators[i].end.at == all->iterators[i].begin.at + 2);
    C(all->stacks[i].limit - (char *)all->stacks[i].top == TEXT - i % TEXT);
    C(all->numbers[i].end == all->numbers[i].begin + TEXT / sizeof(int));
    C(((struct item *)all->named[i].object)->number == i);
    C(all->pairs[i].value[0] == (char)i);
  }
}
#endif
