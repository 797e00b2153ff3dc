// One thread flushes, another fences: that says nothing of the first one's flush.
// ALSO: never fenced
// REQUIRES: clflushopt
// RUN: %raw %s
// RUN: %raw %s -- -DIN_POOL
#include "raw.h"

#include <pthread.h>

struct file {
  _Alignas(64) long data;
  _Alignas(64) long valid;
};
static struct file *f;

static void *write_data(void *unused) {
  f->data = 9; // FOUND: checker
  flush(&f->data, sizeof f->data);
#ifndef BUG
  fence();
#endif
  return unused;
}

int main(int argc, char **argv) {
  f = map_file(argv, sizeof *f);
  if (argc > 2)
    return f->valid && f->data != 9 ? wrong("valid with", f->data) : 0;
  pthread_t thread;
  pthread_create(&thread, NULL, write_data, NULL);
  pthread_join(thread, NULL);
  fence();
  f->valid = 1;
  persist(&f->valid, sizeof f->valid);
  return 0;
}
