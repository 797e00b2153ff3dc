// The state is behind a getter that makes it when it is first asked for.
// load: contacts_load
// must: book contact
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct contact { char *name; char *phone; int ring; } contact_t;
typedef struct book { contact_t **items; size_t count, room; int dirty; } book_t;
static book_t *instance;
book_t *book_get(void) {
  if (instance == NULL) {
    instance = malloc(sizeof(book_t));
    memset(instance, 0, sizeof(book_t));
  }
  return instance;
}
static int book_add(contact_t *c) {
  book_t *b = book_get();
  if (b->count == b->room) {
    size_t room = b->room ? b->room << 1 : 16;
    contact_t **items = realloc(b->items, room * sizeof(*items));
    if (!items)
      return -ENOMEM;
    b->items = items;
    b->room = room;
  }
  b->items[b->count++] = c;
  return 0;
}
static contact_t *contact_parse(char *line) {
  char *save = NULL;
  char *name = strtok_r(line, "\t", &save);
  char *phone = strtok_r(NULL, "\t", &save);
  char *ring = strtok_r(NULL, "\t\n", &save);
  if (!name || !phone)
    return NULL;
  contact_t *c = calloc(1, sizeof(contact_t));
  c->name = strdup(name);
  c->phone = strdup(phone);
  c->ring = ring ? (int)strtol(ring, NULL, 0) : -1;
  return c;
}
int contacts_load(const char *path) {
  FILE *f = fopen(path, "re");
  char buf[BUFSIZ];
  int rc = 0;
  if (!f)
    return -errno;
  while (!rc && fgets(buf, sizeof buf, f)) {
    contact_t *c = contact_parse(buf);
    if (c)
      rc = book_add(c);
  }
  book_get()->dirty = 0;
  fclose(f);
  return rc;
}
