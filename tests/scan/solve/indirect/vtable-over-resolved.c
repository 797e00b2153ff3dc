// A callback slot of the reader that may, by its signature, be anything: here a checksum update or
// the turn of the event loop that keeps clients alive during a long load.
// FINDINGS: "resolve everything: the checksum callback drags in the event loop"; rule 1.
// Wrong: 'client' or 'reply' (built by the event loop, from the network).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct reader {
  FILE *file;
  unsigned long sum;
  void (*update)(struct reader *, const void *, size_t);
};

struct reply {
  struct reply *next;
  char text[32];
};
struct client {
  int fd;
  struct reply *replies;
  struct client *next;
};
static struct client *clients;
extern int acceptClient(void);

static void turn(void) {
  int fd = acceptClient();
  if (fd >= 0) {
    struct client *c = malloc(sizeof *c);
    c->fd = fd;
    c->replies = malloc(sizeof *c->replies);
    read(fd, c->replies->text, 32);
    c->next = clients;
    clients = c;
  }
}

static void updateSum(struct reader *r, const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  while (n--)
    r->sum += *at++;
}
static void updateSumAndServe(struct reader *r, const void *bytes, size_t n) {
  updateSum(r, bytes, n);
  turn();
}

static void get(struct reader *r, void *to, size_t n) {
  fread(to, 1, n, r->file);
  if (r->update)
    r->update(r, to, n);
}

struct item { // CHECK: item [[@LINE]]
  int key;
  struct item *next;
};
static struct item *items;
int busy;

int load(const char *path) {
  struct reader r = {0};
  int key;
  r.file = fopen(path, "rb");
  r.update = busy ? updateSumAndServe : updateSum;
  do {
    struct item *i = malloc(sizeof *i);
    get(&r, &key, sizeof key);
    i->key = key;
    i->next = items;
    items = i;
  } while (key);
  fclose(r.file);
  return 0;
}
