// Workers are started while the file is read.
// load: load_and_start
// must: job
// never: worker
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct job { char cmd[100]; int priority; struct job *next; };
struct worker { pthread_t id; int number, busy; struct worker *next; };
static struct job *jobs;
static struct worker *workers;
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static void *run(void *p) {
  struct worker *w = p;
  for (;;) {
    pthread_mutex_lock(&guard);
    w->busy = jobs != NULL;
    pthread_mutex_unlock(&guard);
  }
  return NULL;
}
static void add_worker(int number) {
  struct worker *w = calloc(1, sizeof *w);
  w->number = number;
  w->next = workers;
  workers = w;
  pthread_create(&w->id, NULL, run, w);
}
int load_and_start(const char *path) {
  FILE *f = fopen(path, "r");
  struct job j;
  if (!f)
    return -1;
  for (int i = 0; i < 4; i++)
    add_worker(i);
  while (fscanf(f, "%d %99[^\n]", &j.priority, j.cmd) == 2) {
    struct job *n = malloc(sizeof *n);
    *n = j;
    n->next = jobs;
    jobs = n;
  }
  return fclose(f);
}
