/* trace.c: a long life of random sizes: a live set whose blocks are replaced one by one at random,
 * TURNOVERS times over, sizes drawn anew every so often from another mixture, so that what fitted
 * once does not fit now. Prints the live bytes asked for and the memory that is held for them.
 * Compiled twice: with POOL on libnvmove, without on malloc. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef POOL
#include "nvmove/nvmove.h"
#else
#include <dlfcn.h>
#endif

enum { TURNOVERS = 100, BLOCKS = 200000, GROUP = 500, PHASES = 20 };

static uint64_t state = 88172645463325252u;
static uint64_t draw(uint64_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % below;
}

/* Small ones mostly; in each phase around another size; sometimes a large one. */
static size_t size_of(unsigned phase) {
  if (draw(2000) == 0)
    return 70000 + draw(400000);
  size_t around = (size_t)24 << phase % 6;
  return draw(4) ? around + draw(around) : 16 + draw(2000);
}

#ifdef POOL
static NVM_POOL *pool;
static void begin(void) { nvm_tx_begin(pool); }
static void commit(void) { nvm_tx_commit(pool); }
static void *take(size_t size) { return nvm_alloc(pool, 0, size); }
static void give(void *block) { nvm_free(block); }
static void start(const char *path) { pool = nvm_pool_create(path, (size_t)64 << 20); }
static uint64_t held(void) {
  struct nvm_usage usage; /* the file's blocks are never given back: all that was ever touched */
  return nvm_pool_usage(pool, &usage) ? 0 : usage.touched_bytes;
}
#else
static void begin(void) {}
static void commit(void) {}
static void *take(size_t size) {
  char *block = malloc(size);
  for (size_t at = 0; at < size; at += 4096)
    block[at] = 1;
  return block;
}
static void give(void *block) { free(block); }
static void start(const char *path) { (void)path; }
/* Of what the allocator holds from the system, that which is in memory. */
static uint64_t held(void) {
  int (*mallctl)(const char *, void *, size_t *, void *, size_t) =
      (int (*)(const char *, void *, size_t *, void *, size_t))dlsym(RTLD_DEFAULT, "mallctl");
  uint64_t epoch = 1;
  size_t resident = 0, size = sizeof resident;
  if (!mallctl || mallctl("epoch", NULL, NULL, &epoch, sizeof epoch) ||
      mallctl("stats.resident", &resident, &size, NULL, 0))
    fprintf(stderr, "no jemalloc here\n"), exit(1);
  return resident;
}
#endif

int main(int argc, char **argv) {
  static struct {
    void *at;
    size_t size;
  } live[BLOCKS];
  uint64_t bytes = 0, most_live = 0, most = 0;
  start(argc > 1 ? argv[1] : "");
  for (uint64_t i = 0; i < (uint64_t)TURNOVERS * BLOCKS;) {
    unsigned phase = (unsigned)(i * PHASES / ((uint64_t)TURNOVERS * BLOCKS));
    begin();
    for (int j = 0; j < GROUP; j++, i++) {
      uint64_t n = i < BLOCKS ? i : draw(BLOCKS);
      if (live[n].at)
        give(live[n].at);
      bytes -= live[n].size;
      live[n].size = size_of(phase);
      live[n].at = take(live[n].size);
      if (!live[n].at)
        return 1;
      bytes += live[n].size;
    }
    most_live = bytes > most_live ? bytes : most_live;
    commit();
    if (i % (BLOCKS / 4) == 0) {
      uint64_t now = held();
      most = now > most ? now : most;
    }
  }
  printf("%llu %llu %llu %llu\n", (unsigned long long)bytes, (unsigned long long)most_live,
         (unsigned long long)held(), (unsigned long long)most);
  return 0;
}
