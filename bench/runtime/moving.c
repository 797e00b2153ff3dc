/* moving.c: opening a pool of 4 and 8 GB where its pointers hold, and where they do not: Breeze's
 * Table V. Objects of 1 KB with 8 pointers each, 1 and 2 threads. Beside it the floor: the same
 * words of a mapped file read and rewritten in order, by as many threads, with nothing else. */
#define _GNU_SOURCE
#include "bench.h"

#include "ours.h"
#include "platform/persist.h"
#include "store.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POINTERS = 8, OBJECT_ID = 77, OBJECT = 1024, GROUP = 1000, LINE = 64 };

struct object {
  struct object *to[POINTERS];
  char text[OBJECT - POINTERS * sizeof(void *)];
};

static const struct nvm_field fields[] = {
    {.name = "to", .target = OBJECT_ID, .count = POINTERS, .stride = 8, .kind = NVM_FIELD_POINTER}};
static const struct nvm_type type = {.id = OBJECT_ID,
                                     .name = "struct object",
                                     .members = "0 8x8 pointer to\n64 1x960 char text\n",
                                     .size = sizeof(struct object),
                                     .alignment = 8,
                                     .field_count = 1,
                                     .fields = fields};
__attribute__((section(NVM_TYPES_SECTION), used)) static const struct nvm_type *const described =
    &type;

/* Chained, so that nothing is lost when one pointer is. */
static void fill(const char *path, uint64_t objects) {
  NVM_POOL *pool = nvm_pool_create(path, objects * (OBJECT + 16) + ((size_t)64 << 20));
  need(pool != NULL);
  struct object *last = NULL;
  for (uint64_t i = 0; i < objects;) {
    need(nvm_tx_begin(pool) == 0);
    for (int j = 0; j < GROUP && i < objects; j++, i++) {
      struct object *made = nvm_alloc(pool, OBJECT_ID, sizeof *made);
      need(made != NULL);
      __nvm_note(made, sizeof made->to);
      for (int k = 0; k < POINTERS; k++)
        made->to[k] = k % 2 ? made : last;
      last = made;
    }
    need(nvm_pool_set_root(pool, last) == 0 && nvm_tx_commit(pool) == 0);
  }
  need(nvm_pool_close(pool) == 0);
}

/* Seconds of the opening and of the first allocation. */
static double open_at(const char *path, uint64_t base, unsigned threads, uint64_t objects) {
  char text[16];
  snprintf(text, sizeof text, "%u", threads);
  setenv("NVMOVE_THREADS", text, 1);
  double start = wall_seconds();
  NVM_POOL *pool = nvm_pool_open_at(path, (void *)base);
  need(pool != NULL);
  need(nvm_tx_begin(pool) == 0 && nvm_alloc(pool, OBJECT_ID, OBJECT) && nvm_tx_abort(pool) == 0);
  double seconds = wall_seconds() - start;
  uint64_t found = 0;
  for (const struct object *at = nvm_pool_root(pool); at; at = at->to[2])
    found += at->to[1] == at;
  if (found != objects)
    printf("WRONG: %llu of %llu objects\n", (unsigned long long)found, (unsigned long long)objects);
  need(nvm_pool_close(pool) == 0);
  return seconds;
}

struct part {
  char *from;
  uint64_t objects;
  pthread_t thread;
};

static void *rewrite(void *argument) {
  const struct part *part = argument;
  const struct nvmi_persist *persist = nvmi_persist_power();
  for (uint64_t i = 0; i < part->objects; i++) {
    uint64_t *words = (void *)(part->from + i * OBJECT);
    for (int k = 0; k < POINTERS; k++)
      words[k] += LINE;
    persist->flush(words, POINTERS * sizeof *words);
  }
  persist->fence();
  return NULL;
}

static double floor_of(const char *path, unsigned threads, uint64_t objects) {
  int fd = open(path, O_RDWR);
  double start = wall_seconds();
  char *bytes = mmap(NULL, objects * OBJECT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  need(bytes != MAP_FAILED);
  struct part parts[2];
  for (unsigned i = 0; i < threads; i++) {
    parts[i] = (struct part){.from = bytes + i * (objects / threads) * OBJECT,
                             .objects = objects / threads};
    pthread_create(&parts[i].thread, NULL, rewrite, &parts[i]);
  }
  for (unsigned i = 0; i < threads; i++)
    pthread_join(parts[i].thread, NULL);
  double seconds = wall_seconds() - start;
  munmap(bytes, objects * OBJECT);
  close(fd);
  return seconds;
}

void ours_moving(const char *path, const struct workload *w, struct measure *result) {
  uint64_t objects = w->operations, base = NVM_RANGE_BASE;
  result->extra[0] = result->extra[1] = result->extra[2] = 1e9;
  pid_t child = fork();
  if (child == 0) {
    fill(path, objects);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  need(status == 0);
  open_at(path, base, w->threads, objects);
  for (unsigned round = 1; round <= 3; round++) {
    double same = open_at(path, 0, w->threads, objects);
    double moved = open_at(path, base + (uint64_t)round * w->parameter, w->threads, objects);
    result->extra[0] = same < result->extra[0] ? same : result->extra[0];
    result->extra[1] = moved < result->extra[1] ? moved : result->extra[1];
  }
  for (unsigned round = 0; round < 3; round++) {
    double floor = floor_of(path, w->threads, objects);
    result->extra[2] = floor < result->extra[2] ? floor : result->extra[2];
  }
}
