/* An append-only file of records and the table it replays into. */
#ifndef STORE_H
#define STORE_H

#include "table.h"

#include <stdio.h>

struct store {
  struct table *table;
  unsigned long next_sequence;
  const char *path;
};

/* Replays the file (a missing one is an empty store). NULL on a damaged file or without memory. */
struct store *store_open(const char *path);
void store_close(struct store *s);

/* Each appends to the file before it changes the table. 0, or -1 and errno. */
int store_put(struct store *s, const char *key, const char *value);
int store_delete(struct store *s, const char *key);

/* Rewrites the file with only what is alive. */
int store_compact(struct store *s);

#endif
