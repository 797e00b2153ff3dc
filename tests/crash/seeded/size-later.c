// The bytes come in one transaction, their number in another.
// RUN: %seeded %s
#include "seeded.h"

struct buffer {
  long length;
  char bytes[100];
};

#ifdef CHECKER
int nvm_crash_check(NVM_POOL *pool) {
  const struct buffer *b = nvm_pool_root(pool);
  return b && (size_t)b->length != strlen(b->bytes);
}
#else
NVM_ATOMIC static void append(struct buffer *b, const char *text) {
  strcat(b->bytes, text);
#ifndef BUG
  b->length = (long)strlen(b->bytes);
#endif
} // FOUND: checker

NVM_ATOMIC static void count(struct buffer *b) { b->length = (long)strlen(b->bytes); }

int main(int argc, char **argv) {
  struct buffer *b = CREATE(argv, struct buffer);
  append(b, "first,");
  count(b);
  append(b, "second,");
  count(b);
  return nvm_pool_close(pool);
}
#endif
