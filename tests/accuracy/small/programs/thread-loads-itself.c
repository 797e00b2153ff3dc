// A thread opens and reads the file by its name.
// load: start_loading
// must: city
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct city { struct city *next; char name[32]; int people; };
static struct city *cities;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *loader(void *arg) {
  FILE *f = fopen((const char *)arg, "r");
  char name[32];
  int people;
  while (f && fscanf(f, "%31s %d", name, &people) == 2) {
    struct city *c = malloc(sizeof *c);
    strcpy(c->name, name);
    c->people = people;
    pthread_mutex_lock(&lock);
    c->next = cities;
    cities = c;
    pthread_mutex_unlock(&lock);
  }
  if (f)
    fclose(f);
  return NULL;
}
int start_loading(char *path) {
  pthread_t t;
  if (pthread_create(&t, NULL, loader, path))
    return -1;
  return pthread_join(t, NULL);
}
