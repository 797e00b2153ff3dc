/* record-store: a key-value store in an append-only file. See README.md. */
#include "store.h"

#include <errno.h>
#include <string.h>

struct options {
  const char *path, *command, *key, *value;
};

static int usage(void) {
  fputs("usage: record-store FILE put KEY VALUE | get KEY | del KEY | compact | count\n", stderr);
  return 2;
}

static int run(struct store *s, const struct options *o) {
  int failed = 0;
  if (!strcmp(o->command, "put") && o->value) {
    failed = store_put(s, o->key, o->value);
  } else if (!strcmp(o->command, "get") && o->key) {
    struct record *r = table_get(s->table, o->key);
    if (!r)
      return 1;
    puts(r->value);
  } else if (!strcmp(o->command, "del") && o->key) {
    failed = store_delete(s, o->key);
  } else if (!strcmp(o->command, "compact")) {
    failed = store_compact(s);
  } else if (!strcmp(o->command, "count")) {
    printf("%zu\n", s->table->count);
  } else {
    return usage();
  }
  if (failed)
    fprintf(stderr, "record-store: %s: %s\n", o->path, strerror(errno));
  return failed ? 1 : 0;
}

int main(int argc, char **argv) {
  struct options o = {0};
  if (argc < 3)
    return usage();
  o.path = argv[1];
  o.command = argv[2];
  o.key = argc > 3 ? argv[3] : NULL;
  o.value = argc > 4 ? argv[4] : NULL;
  struct store *s = store_open(o.path);
  if (!s) {
    fprintf(stderr, "record-store: cannot read %s\n", o.path);
    return 1;
  }
  int status = run(s, &o);
  store_close(s);
  return status;
}
