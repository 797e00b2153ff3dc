// A right program of many constructs: nothing may be found, at any level of optimisation.
// RUN: %cc -O0 -w -pthread %s -o %t.0 && rm -f %pool
// RUN: env NVMOVE_METHOD=undo %crash %sizes{--epoch-states 8 --samples 3 --per-point 4|--epoch-states 64 --samples 16} -- %t.0 %pool | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash %sizes{--epoch-states 8 --samples 3 --per-point 4|--epoch-states 64 --samples 16} -- %t.0 %pool | FileCheck %s
// RUN: %cc -O3 -march=native -w -pthread %s -o %t.3
// RUN: rm -f %pool && env NVMOVE_METHOD=undo %crash %sizes{--epoch-states 8 --samples 3 --per-point 4|--epoch-states 64 --samples 16} -- %t.3 %pool | FileCheck %s
// RUN: rm -f %pool && env NVMOVE_METHOD=shadow %crash %sizes{--epoch-states 8 --samples 3 --per-point 4|--epoch-states 64 --samples 16} -- %t.3 %pool | FileCheck %s
// RUN: rm -f %pool && %crash %sizes{--epoch-states 8 --samples 3 --per-point 4|--epoch-states 64 --samples 16} --model=process -- %t.3 %pool | FileCheck %s
// CHECK-NOT: {{error|warning}}:
// CHECK-NOT: not covered:
// CHECK: no finding
#define _GNU_SOURCE
#include "nvmove/nvmove.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

typedef NVM_STRUCT Item {
  NVM_PTR(struct Item) next;
  unsigned low : 5, middle : 20, high : 7;
  volatile int shown;
  _Bool is_new;
  double weight;
  union {
    long number;
    char text[8];
  } either;
  NVM_VOLATILE long reads;
  char name[24];
}
Item;

struct many {
  long count;
  Item items[];
};

static struct root {
  Item *first;
  struct many *many;
  char *text;
  long vector[40], matrix[4][4], hits, threads[2];
  NVM_VOLATILE pthread_mutex_t mutex;
  Item inside;
} *root;

static NVM_POOL *pool;
static jmp_buf failed;

NVM_ATOMIC static void insert(int i) {
  Item *item = nvm_alloc(pool, NVM_TYPE_ID(Item), sizeof *item);
  *item = (Item){.next = root->first, .low = i, .middle = 1000 * i, .weight = i / 3.0};
  snprintf(item->name, sizeof item->name, "item %d", i);
  item->either.number = i;
  item->shown = 1;
  root->first = item;
  root->first->reads++;
}

NVM_ATOMIC static void change(void) {
  for (Item *item = root->first; item; item = item->next) {
    item->high++;
    item->is_new = !item->is_new;
    item->reads++; /* lost by a crash, and that is right */
    memset(item->either.text, 'x', 3);
  }
  root->inside = *root->first;
  root->inside.next = NULL;
}

NVM_ATOMIC static void drop(void) {
  Item *item = root->first;
  root->first = item->next;
  memset(item, 0xee, sizeof *item); /* its last bytes matter to nobody */
  nvm_free(item);
}

static void use_vectors(void) {
  nvm_tx_begin(pool);
  for (int i = 0; i < 40; i++)
    root->vector[i] = 3 * i;
  memmove(root->vector + 1, root->vector, 20 * sizeof(long));
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      root->matrix[i][j] += i * j;
  qsort(root->vector, 40, sizeof(long), (int (*)(const void *, const void *))strcmp);
  nvm_tx_commit(pool);
}

static void use_strings(int fd) {
  nvm_tx_begin(pool);
  root->text = root->text ? realloc(root->text, strlen(root->text) + 40) : nvm_calloc(pool, 0, 1, 40);
  strcat(root->text, "abc");
  sprintf(root->text + strlen(root->text), "%d", 12);
  lseek(fd, 0, SEEK_SET);
  pread(fd, root->text, 2, 0);
  nvm_tx_commit(pool);
}

static void use_many(void) {
  nvm_tx_begin(pool);
  if (!root->many)
    root->many = nvm_calloc(pool, NVM_TYPE_ID(struct many), 1, sizeof *root->many + 3 * sizeof(Item));
  root->many->items[root->many->count++ % 3].middle++;
  nvm_tx_commit(pool);
}

static void give_up(void) {
  nvm_tx_begin(pool);
  nvm_tx_begin(pool);
  root->hits = 99;
  Item *item = nvm_alloc(pool, NVM_TYPE_ID(Item), sizeof *item);
  item->either.number = 5;
  nvm_free(root->many);
  root->many = NULL;
  nvm_tx_abort(pool);
  nvm_tx_commit(pool);
  if (setjmp(failed) == 0) {
    nvm_tx_begin(pool);
    root->hits = 77;
    longjmp(failed, 1);
  }
  nvm_tx_abort(pool);
}

static void handle(int number) { root->hits++; }

static void interrupt(void) {
  nvm_tx_begin(pool);
  root->vector[0]++;
  raise(SIGUSR1);
  nvm_tx_commit(pool);
}

static void *work(void *number) {
  long t = (long)number;
  for (int i = 0; i < 5; i++) {
    nvm_tx_begin(pool);
    root->threads[t]++;
    nvm_tx_commit(pool);
    pthread_mutex_lock((pthread_mutex_t *)&root->mutex);
    insert(100 + i);
    pthread_mutex_unlock((pthread_mutex_t *)&root->mutex);
  }
  return NULL;
}

static void use_threads(void) {
  pthread_t threads[2];
  pthread_mutex_init((pthread_mutex_t *)&root->mutex, NULL);
  for (long i = 0; i < 2; i++)
    pthread_create(&threads[i], NULL, work, (void *)i);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
}

/* What wakes another thread, what is printed for people, and what only reads. */
static void talk(int event) {
  uint64_t one = 1;
  nvm_tx_begin(pool);
  root->hits++;
  write(event, &one, sizeof one);
  printf("%ld hits\n", root->hits);
  fprintf(stderr, "%s\n", root->text);
  nvm_tx_commit(pool);
  write(1, root->text, strlen(root->text));
  fflush(stdout);
}

int main(int argc, char **argv) {
  int fd = open("/dev/zero", O_RDONLY), event = eventfd(0, 0);
  signal(SIGUSR1, handle);
  pool = nvm_pool_create(argv[argc - 1], 1 << 20);
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  nvm_pool_set_root(pool, root);
  nvm_tx_commit(pool);
  for (int i = 0; i < 3; i++) {
    insert(i);
    change();
    use_vectors();
    use_strings(fd);
    use_many();
  }
  drop();
  give_up();
  interrupt();
  talk(event);
  use_threads();
  return nvm_pool_close(pool);
}
