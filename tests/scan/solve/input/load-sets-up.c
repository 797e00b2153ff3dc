// The load function has its table made first, by a function that is given no input and gives
// nothing back, and then fills it. A library splits the lines: its words are "const char ***".
// Wrong: 'bucket' missed: made without contact to the input; 'entry' holds no input.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int splitIntoWords(const char *line, int *count, const char ***words);

struct entry { // CHECK: entry [[@LINE]]
  char *name;
  int year;
  struct entry *next;
};
struct bucket { // CHECK: bucket [[@LINE]]
  struct entry *first;
};
static struct bucket **table;
static unsigned size;

static int allocateTable(unsigned long wanted) {
  unsigned i;
  table = calloc(wanted, sizeof(struct bucket *));
  for (i = 0; i < wanted; i++) {
    table[i] = malloc(sizeof *table[0]);
    table[i]->first = NULL;
  }
  size = (unsigned)wanted;
  return 0;
}
static struct entry *find(const char *name) {
  struct bucket *b = table[(unsigned char)name[0] % size];
  struct entry *e = malloc(sizeof *e);
  e->name = strdup(name);
  e->next = b->first;
  b->first = e;
  return e;
}

int load(const char *path) {
  char line[200];
  FILE *f = fopen(path, "r");
  allocateTable(64);
  while (fgets(line, sizeof line, f)) {
    int count, year = 0;
    const char **words;
    if (splitIntoWords(line, &count, &words) || sscanf(words[1], "%d", &year) != 1)
      return 1;
    find(words[0])->year = year;
  }
  fclose(f);
  return 0;
}
