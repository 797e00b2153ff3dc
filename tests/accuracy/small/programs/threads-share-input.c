// Two threads take jobs (lines) from one reader.
// load: load_jobs
// must: record
// never: task
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
struct record { int key; char value[60]; struct record *next; };
struct task { FILE *in; mtx_t guard; };
static struct record *table[64];
static int worker(void *p) {
  struct task *t = p;
  char line[80];
  for (;;) {
    mtx_lock(&t->guard);
    char *got = fgets(line, sizeof line, t->in);
    mtx_unlock(&t->guard);
    if (!got)
      return 0;
    struct record *r = malloc(sizeof *r);
    r->key = atoi(line);
    snprintf(r->value, sizeof r->value, "%s", line);
    r->next = table[r->key & 63];
    table[r->key & 63] = r;
  }
}
int load_jobs(const char *path) {
  struct task t = {fopen(path, "r")};
  thrd_t two[2];
  mtx_init(&t.guard, mtx_plain);
  for (int i = 0; i < 2; i++)
    thrd_create(&two[i], worker, &t);
  for (int i = 0; i < 2; i++)
    thrd_join(two[i], NULL);
  return fclose(t.in);
}
