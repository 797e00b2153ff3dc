// Input that is reached only through a struct of function pointers, as in a stream abstraction with
// a file and a memory backend.
// FINDINGS: "reaches fread only through a struct of function pointers (unresolved: nothing is found)".
// Wrong: nothing (calls left unresolved), or 'stream' (a type that holds the handle is machinery).
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stream {
  size_t (*read)(struct stream *, void *, size_t);
  size_t (*write)(struct stream *, const void *, size_t);
  union {
    struct {
      char *bytes;
      size_t at;
    } memory;
    struct {
      FILE *file;
    } disk;
  } io;
};

static size_t memoryRead(struct stream *s, void *to, size_t n) {
  memcpy(to, s->io.memory.bytes + s->io.memory.at, n);
  s->io.memory.at += n;
  return n;
}
static size_t memoryWrite(struct stream *s, const void *from, size_t n) {
  memcpy(s->io.memory.bytes + s->io.memory.at, from, n);
  return n;
}
static size_t diskRead(struct stream *s, void *to, size_t n) {
  return fread(to, 1, n, s->io.disk.file);
}
static size_t diskWrite(struct stream *s, const void *from, size_t n) {
  return fwrite(from, 1, n, s->io.disk.file);
}
static const struct stream memoryStream = {memoryRead, memoryWrite, {{NULL, 0}}};
static const struct stream diskStream = {diskRead, diskWrite, {{NULL, 0}}};

void openMemory(struct stream *s, char *bytes) {
  *s = memoryStream;
  s->io.memory.bytes = bytes;
}
static void openDisk(struct stream *s, FILE *f) {
  *s = diskStream;
  s->io.disk.file = f;
}
static inline int get(struct stream *s, void *to, size_t n) { return s->read(s, to, n) == n; }

struct account { // CHECK: account [[@LINE]]
  long balance;
  char owner[16];
  struct account *next;
};
static struct account *accounts;

static struct account *readAccount(struct stream *s) {
  struct account *a;
  long balance;
  if (!get(s, &balance, sizeof balance))
    return NULL;
  a = malloc(sizeof *a);
  a->balance = balance;
  get(s, a->owner, sizeof a->owner);
  return a;
}

int load(const char *path) {
  struct stream s;
  struct account *a;
  FILE *f = fopen(path, "rb");
  openDisk(&s, f);
  while ((a = readAccount(&s))) {
    a->next = accounts;
    accounts = a;
  }
  fclose(f);
  return 0;
}
