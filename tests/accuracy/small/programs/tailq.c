// BSD queues.
// load: load_queue
// must: mail
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
struct mail { TAILQ_ENTRY(mail) entries; char from[80], to[80]; int tries; };
TAILQ_HEAD(mailq, mail);
static struct mailq queue = TAILQ_HEAD_INITIALIZER(queue);
int load_queue(const char *spool) {
  FILE *f = fopen(spool, "r");
  char from[80], to[80];
  int tries;
  if (!f)
    return -1;
  while (fscanf(f, "%79s %79s %d", from, to, &tries) == 3) {
    struct mail *m = calloc(1, sizeof *m);
    strcpy(m->from, from);
    strcpy(m->to, to);
    m->tries = tries;
    TAILQ_INSERT_TAIL(&queue, m, entries);
  }
  fclose(f);
  return 0;
}
