// The load registers a handler with a library's event loop. It is called some day, not by the load.
// Wrong: 'request' found.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loop;
struct event *event_new(struct loop *loop, int fd, void (*call)(int, void *), void *data);

struct peer { // CHECK: peer [[@LINE]]
  char address[32];
  struct event *ready;
  struct peer *next;
};
struct request {
  char to[32];
  struct request *next;
};
static struct loop *mainLoop;
static struct peer *peers;
static struct request *requests;

static void onReady(int fd, void *data) {
  struct peer *p = data;
  struct request *r = malloc(sizeof *r);
  (void)fd;
  memcpy(r->to, p->address, sizeof r->to);
  r->next = requests;
  requests = r;
}

int load(const char *path) {
  char line[32];
  FILE *f = fopen(path, "r");
  while (fgets(line, sizeof line, f)) {
    struct peer *p = calloc(1, sizeof *p);
    strcpy(p->address, line);
    p->next = peers;
    peers = p;
  }
  fclose(f);
  for (struct peer *p = peers; p; p = p->next)
    p->ready = event_new(mainLoop, 3, onReady, p);
  return 0;
}
