// A static record with a table that the load fills in a loop is data, though only one of its fields
// receives input; so is one that is copied from where it was built. A line that is kept is not.
// Wrong: 'table', 'keys' or 'built' missed; 'line' reported.
// RUN: %scan --format=json --load load %s -- -std=gnu99 | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct table { // CHECK: table [[@LINE]]
  int n;
  char *line[16];
};
static struct table current;
struct keys { // CHECK: keys [[@LINE]]
  int n;
  unsigned short code[64];
};
static struct keys active;
struct built { // CHECK: built [[@LINE]]
  int n;
  char *line[8];
};
static struct built copied;
struct line {
  int number;
  char text[80];
};
static struct line last;
void load(FILE *f) {
  struct keys k = {0};
  unsigned code;
  while (fscanf(f, "%u", &code) == 1)
    k.code[k.n++] = code;
  active = k;
  struct built *b = calloc(1, sizeof *b);
  char text[80];
  while (b->n < 8 && fgets(text, sizeof text, f))
    b->line[b->n++] = strdup(text);
  memcpy(&copied, b, sizeof copied);
  free(b);
  while (current.n < 16 && fgets(last.text, sizeof last.text, f)) {
    last.number++;
    current.line[current.n++] = strdup(last.text);
  }
}
