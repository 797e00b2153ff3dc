// A handle whose record only one source knows, opened before the load.
//
// load: db_load
// save: db_save
// file: notes.txt
// data: 1 one
// data: 4 four
// command: add three
// command: add five
// command: add six
// ask: ?
#include "db.h"
#include <stdio.h>
#include <string.h>
static struct db *db;
static void answer(const char *s) {
  fputs(s, stdout);
  fputc('\n', stdout);
  fflush(stdout);
}
int main(void) {
  char l[100], t[80], b[100];
  int id;
  db = db_open();
  if (db_load(db, "notes.txt"))
    fputs("new\n", stderr);
  while (fgets(l, sizeof l, stdin)) {
    if (sscanf(l, "add %79s", t) == 1) {
      sprintf(b, "%d", db_add(db, t));
      answer(b);
    } else if (sscanf(l, "get %d", &id) == 1) {
      struct note *n = db_find(db, id);
      answer(n ? n->text : "-");
    } else if (sscanf(l, "rm %d", &id) == 1)
      answer(db_rm(db, id) ? "ok" : "-");
    else {
      sprintf(b, "%d notes", db_count(db));
      answer(b);
    }
  }
  return db_save(db, "notes.txt");
}
