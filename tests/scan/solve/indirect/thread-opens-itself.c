// What a thread does is part of the load, also when it opens and reads the file by itself.
// Wrong: 'job' missed; 'worker' reported, whose thread never sees the input.
// RUN: %scan --format=json --load load %s -- | %types
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct job { // CHECK: job [[@LINE]]
  struct job *next;
  int id;
};
static struct job *jobs;
static void *work(void *path) {
  int id;
  FILE *f = fopen(path, "r");
  while (fscanf(f, "%d", &id) == 1) {
    struct job *j = malloc(sizeof *j);
    j->id = id;
    j->next = jobs;
    jobs = j;
  }
  fclose(f);
  return NULL;
}
struct worker {
  int turns;
};
static struct worker *current;
static void *idle(void *nothing) {
  current = malloc(sizeof *current);
  current->turns = 0;
  return nothing;
}
void load(char *path) {
  pthread_t one, two;
  pthread_create(&two, NULL, idle, NULL);
  pthread_create(&one, NULL, work, path);
  pthread_join(one, NULL);
}
