// A mapped file is looked at as records of many types, one array behind the other.
// Wrong: one of the five missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>

struct head { // CHECK: head [[@LINE]]
  unsigned sources, archives;
};
struct source { // CHECK: source [[@LINE]]
  char name[20];
};
struct archive { // CHECK: archive [[@LINE]]
  int rows;
};
struct row { // CHECK: row [[@LINE]]
  double value;
};
struct place { // CHECK: place [[@LINE]]
  unsigned long current;
};
struct base {
  struct head *head;
  struct source *sources;
  struct archive *archives;
  struct row *rows;
  struct place *places;
};

int load(struct base *b, const char *path) {
  int fd = open(path, O_RDWR);
  char *data = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  size_t at = sizeof(struct head);
  b->head = (struct head *)data;
  b->sources = (struct source *)(data + at);
  at += b->head->sources * sizeof(struct source);
  b->archives = (struct archive *)(data + at);
  at += b->head->archives * sizeof(struct archive);
  b->rows = (struct row *)(data + at);
  at += sizeof(struct row);
  b->places = (struct place *)(data + at);
  return b->sources->name[0] && b->archives->rows && b->rows->value > 0 && b->places->current;
}
