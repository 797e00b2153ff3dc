// Before the data file, the load opens a lock file (never read) and a journal that a helper far
// below reads for its own purpose.
// Rule 2: "the input is the open nearest the load function that is actually read".
// Wrong: 'owner' (from the lock file's helper) or 'hostname' reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct owner {
  char host[32];
  int pid;
};
static struct owner *holder;

static void whoHolds(const char *path) {
  FILE *f = fopen(path, "r");
  holder = calloc(1, sizeof *holder);
  fscanf(f, "%31s %d", holder->host, &holder->pid);
  fclose(f);
}
static int lockFile(const char *path) {
  int fd = open(path, O_CREAT | O_EXCL, 0600);
  if (fd < 0)
    whoHolds(path);
  return fd;
}

struct invoice { // CHECK: invoice [[@LINE]]
  int number;
  double total;
  struct invoice *next;
};
static struct invoice *invoices;

int load(const char *path) {
  struct invoice i;
  FILE *f;
  int lock = lockFile("state.lock");
  if (lock < 0)
    return -1;
  f = fopen(path, "rb");
  while (fread(&i, sizeof i, 1, f) == 1) {
    struct invoice *n = malloc(sizeof *n);
    *n = i;
    n->next = invoices;
    invoices = n;
  }
  fclose(f);
  close(lock);
  return 0;
}
