// No records at all: an array of numbers that grows.
//
// load: load
// save: save
// file: d
// data: 1
// data: 2
// data: 3
// command: 5
// command: 6
// command: 7
// command: 8
// command: 9
// ask: ?
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void reply(const char *s) {
  puts(s);
  fflush(stdout);
}
static long *v;
static size_t n, cap;
static void push(long x) {
  if (n == cap) {
    cap = cap ? 2 * cap : 4;
    v = realloc(v, cap * sizeof *v);
  }
  v[n] = x;
  n += 1;
}
static void load(void) {
  FILE *f = fopen("d", "r");
  long x;
  if (!f)
    return;
  while (fscanf(f, "%ld", &x) == 1)
    push(x);
  fclose(f);
}
static void save(void) {
  FILE *f = fopen("d", "w");
  for (size_t i = 0; i < n; i++)
    fprintf(f, "%ld\n", v[i]);
  fclose(f);
}
int main(void) {
  char b[80];
  load();
  while (fgets(b, 80, stdin)) {
    if (*b == '?') {
      long s = 0;
      for (size_t i = 0; i < n; i++)
        s += v[i];
      sprintf(b, "%ld of %zu", s, n);
      reply(b);
    } else {
      push(atol(b));
      reply("ok");
    }
  }
  save();
}
