// Rows of a database; the library is only declared.
// load: load_tasks
// must: todo
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
int sqlite3_open(const char *, sqlite3 **);
int sqlite3_exec(sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **);
int sqlite3_close(sqlite3 *);
struct todo { int id; char *what; struct todo *next; };
static int row(void *to, int n, char **v, char **names) {
  struct todo **list = to, *t = malloc(sizeof *t);
  (void)names;
  t->id = n > 0 ? atoi(v[0]) : 0;
  t->what = strdup(n > 1 ? v[1] : "");
  t->next = *list;
  *list = t;
  return 0;
}
static struct todo *todos;
int load_tasks(const char *db) {
  sqlite3 *h;
  if (sqlite3_open(db, &h))
    return -1;
  int rc = sqlite3_exec(h, "select id, what from todo", row, &todos, NULL);
  sqlite3_close(h);
  return rc;
}
