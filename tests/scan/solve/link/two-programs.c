// Two programs in one tree define a function of the same name; the load calls its own.
// FINDINGS: "Two programs of one tree define the same function name"; design 1: per linked target.
// Wrong: 'wish' (the other program's record), or 'session' and 'task' both missed as ambiguous.
// RUN: rm -rf %t && split-file --leading-lines %s %t
// RUN: %scan --format=json --load loadSessions %t/server.c %t/shared.c %t/session.c %t/client.c -- \
// RUN:   | %types
// RUN: %scan --format=json --load loadSessions %t/client.c %t/shared.c %t/session.c %t/server.c -- \
// RUN:   | %types
// CHECK: session session.h:[[#@LINE + 3]]

//--- session.h
struct session {
  int id;
  char user[24];
  struct session *next;
};
extern struct session *sessions;
struct session *createSession(int id);
int readNumber(void *file, int *number);

//--- shared.c
#include <stdio.h>
int readNumber(void *file, int *number) {
  return fread(number, sizeof *number, 1, (FILE *)file) == 1;
}

//--- session.c
#include "session.h"
#include <stdlib.h>
struct session *createSession(int id) {
  struct session *s = malloc(sizeof *s);
  s->id = id;
  return s;
}

//--- server.c
#include "session.h"
#include <stdio.h>
struct session *sessions;
int loadSessions(const char *path) {
  FILE *f = fopen(path, "rb");
  int id;
  while (readNumber(f, &id)) {
    struct session *s = createSession(id);
    s->next = sessions;
    sessions = s;
  }
  fclose(f);
  return 0;
}
int main(void) { return loadSessions("sessions"); }

//--- client.c
#include <stdlib.h>
struct wish {
  int wanted;
  struct wish *next;
};
static struct wish *wishes;
struct wish *createSession(int id) {
  struct wish *w = malloc(sizeof *w);
  w->wanted = id;
  w->next = wishes;
  return wishes = w;
}
int main(void) { return createSession(1) == NULL; }
