#include "kv.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void oom(void) {
  fprintf(stderr, "out of memory\n");
  abort();
}
void *xmalloc(size_t n) {
  void *p = malloc(n);
  if (!p)
    oom();
  return p;
}
void *xcalloc(size_t n, size_t s) {
  void *p = calloc(n, s);
  if (!p)
    oom();
  return p;
}
char *xstrdup(const char *s) {
  size_t n = strlen(s) + 1;
  return memcpy(xmalloc(n), s, n);
}
