// A record that is kept behind "char *name" is found by its cast; what lies in it is a part of it
// and not what the memory is. Wrong: 'digests' reported. RUN: %scan --format=json --load load %s --
// -std=gnu99 | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct digest { // CHECK: digest [[@LINE]]
  char *hex;
  struct digest *next;
};
struct digests {
  struct digest *first, **last;
};
struct command { // CHECK: command [[@LINE]]
  char *path, *args;
  struct digests digests;
};
struct member { // CHECK: member [[@LINE]]
  char *name;
  int type;
  struct member *next;
};
static struct member *members;
static void fill_command(struct member *m, const char *from) {
  m->name = calloc(1, sizeof(struct command));
  ((struct command *)m->name)->path = strdup(from);
}
static void add_digest(struct member *m, const char *hex) {
  struct command *c = (struct command *)m->name;
  struct digests *list = &c->digests;
  struct digest *d = malloc(sizeof *d);
  d->hex = strdup(hex);
  d->next = list->first;
  list->first = d;
}
void load(FILE *f) {
  char word[80], hex[80];
  while (fscanf(f, "%79s %79s", word, hex) == 2) {
    struct member *m = calloc(1, sizeof *m);
    m->name = strdup(word);
    if (word[0] == '/') {
      fill_command(m, word);
      add_digest(m, hex);
    }
    m->next = members;
    members = m;
  }
}
