// No records at all: an array of texts.
//
// load: load
// save: save
// file: d
// data: ann
// data: bob
// command: cy
// command: dora
// command: emil
// ask: ?
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void reply(const char *s) {
  puts(s);
  fflush(stdout);
}
static char *names[10];
static int n;
static void add(const char *s) {
  names[n] = strdup(s);
  n = n + 1;
}
static void load(void) {
  FILE *f = fopen("d", "r");
  char b[80];
  if (!f)
    return;
  while (n < 10 && fgets(b, 80, f))
    add(b);
  fclose(f);
}
static void save(void) {
  FILE *f = fopen("d", "w");
  for (int i = 0; i < n; i++)
    fputs(names[i], f);
  fclose(f);
}
int main(void) {
  char b[80];
  load();
  while (fgets(b, 80, stdin)) {
    if (*b == '?') {
      sprintf(b, "%d", n);
      reply(b);
    } else {
      add(b);
      reply("ok");
    }
  }
  save();
}
