// What the load itself sets, beside what it makes.
//
// load: load
// save: save
// file: d
// data: limit 4
// data: owner ann
// data: 1
// data: 2
// command: limit 5
// command: owner bob
// command: 3
// command: 4
// ask: ?
// ask: 6
// ask: ?
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void reply(const char *s) {
  puts(s);
  fflush(stdout);
}
/* config and data from the same file; flags; state in a struct copied by fread; string in fixed global */
struct rec {
  int id;
  struct rec *next;
};
static struct rec *head;
static int limit = 3;
static char owner[20];
static int table[4];
static int n;
static void mk(int id) {
  struct rec *r = malloc(sizeof *r);
  r->id = id;
  r->next = head;
  head = r;
  table[id % 4] = table[id % 4] + 1;
  n = n + 1;
}
static void load(void) {
  FILE *f = fopen("d", "r");
  char l[80];
  if (!f)
    return;
  while (fgets(l, 80, f)) {
    int x;
    char s[20];
    if (sscanf(l, "limit %d", &x) == 1)
      limit = x;
    else if (sscanf(l, "owner %19s", s) == 1)
      strcpy(owner, s);
    else if (sscanf(l, "%d", &x) == 1)
      mk(x);
  }
  fclose(f);
}
static void save(void) {
  FILE *f = fopen("d", "w");
  fprintf(f, "limit %d\nowner %s\n", limit, owner);
  for (struct rec *r = head; r; r = r->next)
    fprintf(f, "%d\n", r->id);
  fclose(f);
}
int main(void) {
  char b[120], s[20];
  int x;
  load();
  while (fgets(b, 80, stdin)) {
    if (sscanf(b, "limit %d", &x) == 1) {
      limit = x;
      strcpy(b, "ok");
    } else if (sscanf(b, "owner %19s", s) == 1) {
      strcpy(owner, s);
      strcpy(b, "ok");
    } else if (*b == '?')
      sprintf(b, "%d/%d %s [%d %d %d %d]", n, limit, owner, table[0], table[1], table[2], table[3]);
    else if (n >= limit)
      strcpy(b, "full");
    else {
      mk(atoi(b));
      strcpy(b, "ok");
    }
    reply(b);
  }
  save();
}
