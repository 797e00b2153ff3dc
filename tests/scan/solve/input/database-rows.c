// The state lies in a database that an opaque library opens; rows come out value by value.
// Rule 3: taint through externals; the opener is not in any list.
// Wrong: 'song' missed (no fopen anywhere); 'query' (the statement's owner) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdlib.h>
#include <string.h>

typedef struct lib_database lib_database;
typedef struct lib_statement lib_statement;
int lib_open(const char *path, lib_database **db);
int lib_prepare(lib_database *db, const char *text, lib_statement **statement);
int lib_step(lib_statement *s);
int lib_column_int(lib_statement *s, int column);
const char *lib_column_text(lib_statement *s, int column);
void lib_finish(lib_statement *s);
void lib_close(lib_database *db);

struct song { // CHECK: song [[@LINE]]
  int seconds;
  char *title;
  struct song *next;
};
struct query {
  lib_statement *statement;
  int rows;
};
static struct song *songs;

int load(const char *path) {
  lib_database *db;
  struct query q = {0};
  if (lib_open(path, &db) || lib_prepare(db, "select * from songs", &q.statement))
    return -1;
  while (lib_step(q.statement) == 1) {
    struct song *s = malloc(sizeof *s);
    s->seconds = lib_column_int(q.statement, 0);
    s->title = strdup(lib_column_text(q.statement, 1));
    s->next = songs;
    songs = s;
    ++q.rows;
  }
  lib_finish(q.statement);
  lib_close(db);
  return 0;
}
