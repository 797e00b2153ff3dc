// Counters that are changed by atomic operations.
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
// ask: ?
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void reply(const char *s) {
  puts(s);
  fflush(stdout);
}
struct rec {
  long id;
  struct rec *next;
};
static struct rec *head;
static atomic_long ids;
static long n;
static struct rec *mk(long v) {
  struct rec *r = malloc(sizeof *r);
  r->id = atomic_fetch_add(&ids, 1) + v * 0;
  __atomic_add_fetch(&n, 1, __ATOMIC_SEQ_CST);
  r->next = head;
  head = r;
  return r;
}
static void load(void) {
  FILE *f = fopen("d", "r");
  long x;
  if (!f)
    return;
  while (fscanf(f, "%ld", &x) == 1)
    mk(x);
  fclose(f);
}
static void save(void) {
  FILE *f = fopen("d", "w");
  for (struct rec *r = head; r; r = r->next)
    fprintf(f, "%ld\n", r->id);
  fclose(f);
}
int main(void) {
  char b[80];
  load();
  while (fgets(b, 80, stdin)) {
    if (*b == '?')
      sprintf(b, "%ld %ld", n, (long)ids);
    else
      sprintf(b, "%ld", mk(1)->id);
    reply(b);
  }
  save();
}
