// The library stands in front of the C library's locks where there is one behind; a static program has its own.
// RUN: %cc -O1 %s -pthread -o %t && %t | FileCheck %s
// RUN: %cc -O1 %s -pthread -static -w -o %t.static && %t.static | FileCheck %s
// RUN: %cc -O1 %s -pthread -fsanitize=thread -o %t.tsan && %t.tsan | FileCheck %s
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <threads.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *signal_it(void *unused) {
  pthread_mutex_lock(&mutex);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_t thread;
  sem_t semaphore;
  mtx_t mtx;
  pthread_mutex_lock(&mutex);
  pthread_create(&thread, NULL, signal_it, NULL);
  while (!ready)
    pthread_cond_wait(&condition, &mutex);
  pthread_mutex_unlock(&mutex);
  pthread_join(thread, NULL);
  int failed = pthread_rwlock_wrlock(&rwlock) + pthread_rwlock_unlock(&rwlock);
  failed += sem_init(&semaphore, 0, 0) + sem_post(&semaphore) + sem_wait(&semaphore);
  failed += mtx_init(&mtx, mtx_plain) + mtx_lock(&mtx) + mtx_unlock(&mtx);
  // CHECK: ready 1, 0 failed
  printf("ready %d, %d failed\n", ready, failed);
  return 0;
}
