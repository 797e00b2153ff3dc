// The same reading functions serve files and clients: what clients build is no part of the load.
// Design 1: where the input goes, not where any input goes.
// Wrong: 'session' (built from the network with the same reader type and functions).
// RUN: %scan --format=json --load load %s -- | %types
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct reader {
  int fd;
};
static int readInt(struct reader *r) {
  int n = 0;
  read(r->fd, &n, sizeof n);
  return n;
}

struct session {
  struct reader from;
  int user;
  struct session *next;
};
struct ticket { // CHECK: ticket [[@LINE]]
  int user, price;
  struct ticket *next;
};
static struct session *sessions;
static struct ticket *tickets;

void serve(int listening) {
  struct session *s = malloc(sizeof *s);
  s->from.fd = accept(listening, NULL, NULL);
  s->user = readInt(&s->from);
  s->next = sessions;
  sessions = s;
}

int load(const char *path) {
  struct reader r = {open(path, O_RDONLY)};
  int n = readInt(&r);
  while (n--) {
    struct ticket *t = malloc(sizeof *t);
    t->user = readInt(&r);
    t->price = readInt(&r);
    t->next = tickets;
    tickets = t;
  }
  close(r.fd);
  return 0;
}
