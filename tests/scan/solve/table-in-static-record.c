// A static record with a table that the load fills in a loop is data, though only one of its fields
// receives input; so is one that is copied from where it was built. A line that is kept is not.
// Wrong: 'table' or 'keys' missed; 'line' reported.
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
  while (current.n < 16 && fgets(last.text, sizeof last.text, f)) {
    last.number++;
    current.line[current.n++] = strdup(last.text);
  }
}
