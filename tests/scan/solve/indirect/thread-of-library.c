// Libraries start threads with functions of their own; the order of the arguments is each one's.
// Wrong: 'one' or 'two' missed.
// RUN: %scan --format=json --load load %s -- | %types
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long uv_thread_t;
struct SDL_Thread;
int uv_thread_create(uv_thread_t *tid, void (*entry)(void *), void *arg);
struct SDL_Thread *SDL_CreateThread(int (*entry)(void *), const char *name, void *data);

struct one { // CHECK: one [[@LINE]]
  struct one *next;
  int id;
};
struct two { // CHECK: two [[@LINE]]
  struct two *next;
  int id;
};
static struct one *ones;
static struct two *twos;
static void work(void *path) {
  int id;
  FILE *f = fopen(path, "r");
  while (fscanf(f, "%d", &id) == 1) {
    struct one *made = malloc(sizeof *made);
    made->id = id;
    made->next = ones;
    ones = made;
  }
  fclose(f);
}
static int play(void *path) {
  int id;
  FILE *f = fopen(path, "r");
  while (fscanf(f, "%d", &id) == 1) {
    struct two *made = malloc(sizeof *made);
    made->id = id;
    made->next = twos;
    twos = made;
  }
  return fclose(f);
}
void load(char *path) {
  uv_thread_t thread;
  uv_thread_create(&thread, work, path);
  SDL_CreateThread(play, "play", path);
}
