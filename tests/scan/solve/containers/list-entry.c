// Lists in the style of BSD's queue.h: head and entry are unnamed structures made by macros.
// Linked lists with embedded hooks.
// Wrong: 'mail' missed; 'mailbox' is a global that only holds the head.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <sys/queue.h>

struct mail { // CHECK: mail [[@LINE]]
  int size;
  char subject[40];
  TAILQ_ENTRY(mail) entries;
};
TAILQ_HEAD(mailbox, mail); // either
static struct mailbox inbox = TAILQ_HEAD_INITIALIZER(inbox);

int load(const char *path) {
  int size;
  FILE *f = fopen(path, "rb");
  while (fread(&size, sizeof size, 1, f) == 1) {
    struct mail *m = malloc(sizeof *m);
    m->size = size;
    fread(m->subject, 1, sizeof m->subject, f);
    TAILQ_INSERT_TAIL(&inbox, m, entries);
  }
  fclose(f);
  return 0;
}
