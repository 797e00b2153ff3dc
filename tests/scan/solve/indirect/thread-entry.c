// The load starts a thread that reads; the thread's argument carries the handle.
// FINDINGS: "thread entry points".
// Wrong: 'record' missed (pthread_create not followed), or 'work' (handed to the thread, holds the
// handle, freed) reported.
// RUN: %scan --format=json --load load %s -- | %types
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct record { // CHECK: record [[@LINE]]
  long id;
  struct record *next;
};
static struct record *records;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct work {
  FILE *file;
  long from, to;
};

static void *reader(void *argument) {
  struct work *w = argument;
  fseek(w->file, w->from, SEEK_SET);
  while (ftell(w->file) < w->to) {
    struct record *r = malloc(sizeof *r);
    fread(&r->id, sizeof r->id, 1, w->file);
    pthread_mutex_lock(&lock);
    r->next = records;
    records = r;
    pthread_mutex_unlock(&lock);
  }
  fclose(w->file);
  free(w);
  return NULL;
}

int load(const char *path) {
  pthread_t threads[2];
  int i;
  for (i = 0; i < 2; ++i) {
    struct work *w = malloc(sizeof *w);
    w->file = fopen(path, "rb");
    w->from = i * 4096;
    w->to = w->from + 4096;
    pthread_create(&threads[i], NULL, reader, w);
  }
  for (i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  return 0;
}
