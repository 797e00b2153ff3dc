// The roots are deep inside one big global: an array of records by value inside a record.
// Design 5: "fields of globals".
// Wrong: 'account' missed; 'client' (another field of the same global) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

struct account { // CHECK: account [[@LINE]]
  long balance;
};
struct client {
  int fd;
};
struct branch { // either
  int number;
  struct account *accounts[16];
};
struct server { // either
  int port;
  struct client *clients[64];
  struct {
    int count;
    struct branch branches[4];
  } data;
};
struct server server;

void connected(int fd) {
  struct client *c = malloc(sizeof *c);
  c->fd = fd;
  server.clients[fd & 63] = c;
}

int load(const char *path) {
  int branch, number;
  long balance;
  FILE *f = fopen(path, "r");
  while (fscanf(f, "%d %d %ld", &branch, &number, &balance) == 3) {
    struct branch *b = &server.data.branches[branch & 3];
    struct account *a = malloc(sizeof *a);
    a->balance = balance;
    b->accounts[number & 15] = a;
  }
  fclose(f);
  return 0;
}
