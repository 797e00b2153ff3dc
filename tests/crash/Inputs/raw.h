/* raw.h: what the programs of tests/crash/raw need. Each makes its data persistent by itself in a file: argv[1]. With a
 * further argument it checks such a file after a crash: argv[2] has what it had printed until then. */
#pragma once

#include <fcntl.h>
#include <immintrin.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef IN_POOL
#include "nvmove/nvmove.h"

/* The same memory in a pool of libnvmove. Before its creation is over there is nothing to check. */
static inline void *map_file(char **argv, size_t size) {
  NVM_POOL *pool = argv[2] ? nvm_pool_open(argv[1]) : nvm_pool_create(argv[1], 1 << 20);
  if (argv[2] && (!pool || !nvm_pool_root(pool)))
    exit(0);
  if (argv[2])
    return nvm_pool_root(pool);
  if (!pool || nvm_tx_begin(pool) != 0)
    abort();
  void *got = nvm_calloc(pool, 0, 1, size);
  if (!got || nvm_pool_set_root(pool, got) != 0 || nvm_tx_commit(pool) != 0)
    abort();
  return got;
}
#else
static inline void *map_file(char **argv, size_t size) {
  int fd = open(argv[1], O_RDWR | O_CREAT, 0666);
  if (fd < 0 || ftruncate(fd, (off_t)size))
    abort();
  void *got = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (got == MAP_FAILED)
    abort();
  close(fd);
  return got;
}
#endif

/* The last number that the program had printed; 0: none. */
static inline long acked(char **argv) {
  long last = 0;
  FILE *printed = fopen(argv[2], "r");
  if (!printed)
    abort();
  while (fscanf(printed, "%ld", &last) == 1)
    ;
  fclose(printed);
  return last;
}

static inline void acknowledge(long number) {
  printf("%ld\n", number);
  fflush(stdout);
}

/* The program says what is wrong with the file, and that it is. */
static inline int wrong(const char *what, long number) {
  printf("%s %ld\n", what, number);
  return 1;
}

static inline void fence(void) { _mm_sfence(); }

__attribute__((target("clflushopt"))) static inline void flush(const void *at, size_t size) {
  for (uintptr_t line = (uintptr_t)at & ~(uintptr_t)63; line < (uintptr_t)at + size; line += 64)
    _mm_clflushopt((void *)line);
}

static inline void persist(const void *at, size_t size) {
  flush(at, size);
  fence();
}
