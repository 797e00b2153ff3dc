// A static table of commands, searched with a word of the input.
// FINDINGS: "static command tables"; design 1: "tables keyed by string".
// Wrong: nothing; 'command' (a static table, nothing of the file is in it).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arguments {
  int count;
  char *values[8];
};
struct command {
  const char *name;
  int (*run)(struct arguments *);
};
struct key { // CHECK: key [[@LINE]]
  char *name, *value;
  struct key *next;
};
static struct key *keys;

static int runSet(struct arguments *a) {
  struct key *k = malloc(sizeof *k);
  k->name = strdup(a->values[1]);
  k->value = strdup(a->values[2]);
  k->next = keys;
  keys = k;
  return 0;
}
static int runDelete(struct arguments *a) {
  struct key **k;
  for (k = &keys; *k; k = &(*k)->next)
    if (!strcmp((*k)->name, a->values[1])) {
      struct key *gone = *k;
      *k = gone->next;
      free(gone);
      return 0;
    }
  return 1;
}
static const struct command commands[] = {{"delete", runDelete}, {"set", runSet}};

static const struct command *lookup(const char *name) {
  size_t i;
  for (i = 0; i < sizeof commands / sizeof *commands; ++i)
    if (!strcmp(commands[i].name, name))
      return &commands[i];
  return NULL;
}

int load(const char *path) {
  char line[512];
  FILE *f = fopen(path, "r");
  while (fgets(line, sizeof line, f)) {
    struct arguments a = {0};
    char *word;
    const struct command *c;
    for (word = strtok(line, " \n"); word && a.count < 8; word = strtok(NULL, " \n"))
      a.values[a.count++] = word;
    c = a.count ? lookup(a.values[0]) : NULL;
    if (c)
      c->run(&a);
  }
  fclose(f);
  return 0;
}
