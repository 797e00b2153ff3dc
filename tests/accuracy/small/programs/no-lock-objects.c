// Locks and condition variables are set up at load.
// load: mount_table
// must: volume
// never: lockbox
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct lockbox { pthread_mutex_t m; pthread_cond_t c; int waiters; };
struct volume { char label[32]; unsigned long blocks; struct volume *next; };
static struct lockbox *box;
static struct volume *volumes;
static void init_locks(void) {
  box = malloc(sizeof *box);
  pthread_mutex_init(&box->m, NULL);
  pthread_cond_init(&box->c, NULL);
  box->waiters = 0;
}
int mount_table(const char *file) {
  init_locks();
  FILE *f = fopen(file, "r");
  if (!f)
    return -1;
  for (;;) {
    struct volume *v = malloc(sizeof *v);
    if (fscanf(f, "%31s %lu", v->label, &v->blocks) != 2) {
      free(v);
      break;
    }
    v->next = volumes;
    volumes = v;
  }
  return fclose(f);
}
