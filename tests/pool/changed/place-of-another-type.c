/* prints right */
#include "checked.h"
/* A field of another type has the same name and place, and has led to the inner record before. */
struct inner {
  int value;
};
struct outer {
#if V == 1
  long added;
#endif
  struct inner inner;
  int more;
};
struct one {
  long key;
#if V == 0
  struct inner *data;
#else
  void *data;
#endif
};
struct other {
  long key;
  void *data;
};
struct root {
  struct one *one;
  struct other *other;
  struct outer *outer;
};
#if V == 0
void fill(NVM_POOL *P) {
  struct root *root = NEW(struct root);
  root->one = NEW(struct one);
  root->other = NEW(struct other);
  root->outer = NEW(struct outer);
  root->one->data = &root->outer->inner;
  root->other->data = root->outer;
  nvm_pool_set_root(P, root);
}
#else
void check(NVM_POOL *P) {
  struct root *root = nvm_pool_root(P);
  C(root->one->data == &root->outer->inner);
  C(root->other->data == root->outer);
}
#endif
