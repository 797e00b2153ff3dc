// A pointer to the last link.
// load: read_queue
// must: msg
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct msg { struct msg *next; unsigned long id; char body[]; };
struct msg *read_queue(FILE *f) {
  struct msg *list = NULL, **tail = &list;
  unsigned long id;
  char body[256];
  while (fscanf(f, "%lu %255[^\n]", &id, body) == 2) {
    struct msg *m = malloc(sizeof *m + strlen(body) + 1);
    m->id = id;
    strcpy(m->body, body);
    m->next = NULL;
    *tail = m;
    tail = &m->next;
  }
  return list;
}
