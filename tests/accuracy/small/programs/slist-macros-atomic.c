// Lists by macros of the system's queue header, counts that are atomic, a lock around the table.
// load: users_load
// must: user group
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
struct group { char name[32]; atomic_int refs; LIST_ENTRY(group) link; };
struct user { char name[32]; int uid; struct group *group; STAILQ_ENTRY(user) link; };
static LIST_HEAD(, group) groups = LIST_HEAD_INITIALIZER(groups);
static STAILQ_HEAD(, user) users = STAILQ_HEAD_INITIALIZER(users);
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static struct group *group_ref(const char *name) {
  struct group *g;
  LIST_FOREACH(g, &groups, link)
    if (!strcmp(g->name, name))
      goto found;
  g = calloc(1, sizeof *g);
  strcpy(g->name, name);
  LIST_INSERT_HEAD(&groups, g, link);
found:
  atomic_fetch_add(&g->refs, 1);
  return g;
}
int users_load(const char *path) {
  struct user u, *made;
  char group[32];
  FILE *f = fopen(path, "r");
  if (!f)
    return -1;
  pthread_rwlock_wrlock(&lock);
  while (fscanf(f, "%31[^:]:%d:%31s ", u.name, &u.uid, group) == 3) {
    made = malloc(sizeof *made);
    memcpy(made, &u, sizeof u);
    made->group = group_ref(group);
    STAILQ_INSERT_TAIL(&users, made, link);
  }
  pthread_rwlock_unlock(&lock);
  fclose(f);
  return 0;
}
