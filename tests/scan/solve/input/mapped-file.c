// Items live in a mapped file: nothing is ever allocated, the load only walks the mapping and
// repairs its pointers.
// FINDINGS: "allocates nothing: its items lie in a mapped file".
// Wrong: nothing.
// RUN: %scan --format=json --load load %s -- | %types
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE (1 << 20)
typedef struct item_s { // CHECK: item_s [[@LINE]]
  struct item_s *next;
  uint32_t time;
  uint16_t length;
  uint16_t flags;
  char data[];
} item;

static void *base;
static item *heads[256];

static void *mapFile(const char *path) {
  int fd = open(path, O_RDWR);
  void *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return at;
}

static void relink(item *it, uintptr_t moved) {
  if (it->next)
    it->next = (item *)((uintptr_t)it->next + moved);
  it->flags &= ~1;
}

int load(const char *path, uintptr_t old) {
  uintptr_t moved;
  char *at;
  base = mapFile(path);
  if (base == MAP_FAILED)
    return -1;
  moved = (uintptr_t)base - old;
  for (at = base; at < (char *)base + SIZE;) {
    item *it = (item *)at;
    relink(it, moved);
    heads[it->length & 255] = it;
    at += sizeof(item) + it->length;
  }
  return 0;
}
