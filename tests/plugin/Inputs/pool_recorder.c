/* pool_recorder.c: recorder.h in a pool of libnvmove, to be killed at any append and looked at
 * again.
 *
 * A test program that was written for the recorder runs here unchanged. After each commit a first
 * run writes down what the mapped memory holds (DIR/state.N, N commits); a run that is killed must
 * leave the state of the last commit that it acknowledged, or of the one that was under way.
 * Compiled with -DJUDGE it is the program that makes the pool and that compares: "create DIR",
 * "judge DIR".
 */
#include "recorder.h"

#include "nvmove/abi.h"
#include "nvmove/nvmove.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { REGIONS_MAX = 64, POOL_SIZE = 4 << 20, STATE_MAX = 1 << 20 };

struct regions {
  _Alignas(NVM_LINE_SIZE) unsigned long commits;
  _Alignas(NVM_LINE_SIZE) unsigned long count;
  struct {
    char *base;
    unsigned long size;
  } at[REGIONS_MAX];
};

static NVM_POOL *pool;
static struct regions *regions;
static char directory[4000], state[STATE_MAX];
static int stored; /* some state is not all zeros, as mapped memory begins */

static void need(int condition, const char *what) {
  if (condition)
    return;
  fprintf(stderr, "pool_recorder: %s: %s\n", what, nvm_strerror());
  _Exit(3);
}

static const char *path_of(const char *name, unsigned long number) {
  static char path[4096];
  snprintf(path, sizeof path, "%s/%s%.0lu", directory, name, number);
  return path;
}

static size_t collect(void) {
  unsigned long commits = regions ? regions->commits : 0;
  size_t size = sizeof commits;
  memcpy(state, &commits, size);
  for (unsigned long i = 0; regions && i < regions->count; i++) {
    need(size + regions->at[i].size <= STATE_MAX, "the test maps too much");
    memcpy(state + size, regions->at[i].base, regions->at[i].size);
    size += regions->at[i].size;
  }
  return size;
}

static void write_state(unsigned long commits) {
  FILE *f = fopen(path_of("state.", commits + 1), "wb");
  size_t size = collect();
  for (size_t i = sizeof(long); i < size; i++)
    stored |= state[i] != 0;
  need(f && fwrite(state, 1, size, f) == size && fclose(f) == 0, "cannot write a state");
}

#ifndef JUDGE
static volatile unsigned long *acknowledged;
/* Who commits what the program stores: a transaction begun here, commit points and the next
 * beginning, or the program itself, before it says so: what it left open is lost. */
static enum { HERE, OUTSIDE, COMMITTED } mode;

/* What is open: by a commit point and by the next beginning, in turn. */
static void commit_outside(void) {
  if (*acknowledged % 2) {
    __nvm_commit_point();
    return;
  }
  need(nvm_tx_begin(pool) == 0, "begin");
  need(nvm_tx_commit(pool) == 0, "commit of nothing");
}

/* With a store of its own at the end: a kill comes behind all that the program wrote, and what of
 * that is not undone then is no state. */
static void commit(void) {
  if (mode != COMMITTED)
    regions->commits = *acknowledged + 1;
  if (mode == OUTSIDE)
    commit_outside();
  else
    need(mode == COMMITTED || nvm_tx_commit(pool) == 0, "commit");
  ++*acknowledged;
  if (getenv("RECORDER_FIRST_RUN"))
    write_state(*acknowledged);
  need(mode != HERE || nvm_tx_begin(pool) == 0, "begin");
}

static void start(void) {
  snprintf(directory, sizeof directory, "%s", getenv("RECORDER_DIR"));
  int fd = open(path_of("acknowledged", 0), O_RDWR);
  acknowledged = mmap(NULL, sizeof *acknowledged, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  need(acknowledged != MAP_FAILED, "cannot map the count of commits");
  pool = nvm_pool_open(path_of("pool", 0));
  mode = getenv("RECORDER_OUTSIDE") ? OUTSIDE : getenv("RECORDER_COMMITTED") ? COMMITTED : HERE;
  need(pool && (mode != HERE || nvm_tx_begin(pool) == 0), "open");
  regions = nvm_pool_root(pool);
}

void *recorder_map(size_t size) {
  if (!pool)
    start();
  /* From a line on, with one to spare, as the recorder does. */
  need(mode != COMMITTED || nvm_tx_begin(pool) == 0, "begin");
  char *base = nvm_calloc(pool, 0, 1, size + NVM_LINE_SIZE);
  need(base && regions->count < REGIONS_MAX, "map");
  regions->at[regions->count].base = base;
  regions->at[regions->count++].size = size + NVM_LINE_SIZE;
  need(mode != COMMITTED || nvm_tx_commit(pool) == 0, "commit");
  commit();
  return base;
}

void recorder_watch(void *begin, void *end) {
  (void)begin, (void)end;
  need(0, "memory outside the pool cannot be watched here");
}

void recorder_excuse(void *address, size_t size) { __nvm_note_if_persistent(address, size); }

int recorder_commit(void) {
  commit();
  return 0;
}

int recorder_finish(void) {
  commit();
  need(stored || !getenv("RECORDER_FIRST_RUN"), "the program stored nothing");
  if (mode == COMMITTED)
    _Exit(0);
  need((mode == OUTSIDE || nvm_tx_commit(pool) == 0) && nvm_pool_close(pool) == 0, "close");
  return 0;
}

/* What only the other recorder counts. */
size_t recorder_notes(void) { return 0; }
size_t recorder_bytes(void) { return 0; }
size_t recorder_commits(void) { return *acknowledged; }
#else
static int is_state(unsigned long commits, size_t size) {
  static char wanted[STATE_MAX + 1];
  FILE *f = fopen(path_of("state.", commits + 1), "rb");
  size_t got = f ? fread(wanted, 1, sizeof wanted, f) : 0;
  if (f)
    fclose(f);
  return f && got == size && memcmp(wanted, state, size) == 0;
}

int main(int argc, char **argv) {
  need(argc == 3, "usage: create DIR | judge DIR");
  snprintf(directory, sizeof directory, "%s", argv[2]);
  if (strcmp(argv[1], "create") == 0) {
    pool = nvm_pool_create(path_of("pool", 0), POOL_SIZE);
    regions = pool ? nvm_calloc(pool, 0, 1, sizeof *regions) : NULL;
    need(regions && nvm_pool_set_root(pool, regions) == 0 && nvm_pool_close(pool) == 0, "create");
    regions = NULL;
    write_state(0);
    return 0;
  }
  unsigned long commits = 0;
  FILE *f = fopen(path_of("acknowledged", 0), "rb");
  need(f && fread(&commits, sizeof commits, 1, f) == 1 && fclose(f) == 0, "acknowledged");
  pool = nvm_pool_open(path_of("pool", 0));
  need(pool != NULL, "open");
  regions = nvm_pool_root(pool);
  size_t size = collect();
  if (is_state(commits, size) || is_state(commits + 1, size))
    return 0;
  fprintf(stderr, "pool_recorder: after %lu commits: neither that state nor the next\n", commits);
  return 1;
}
#endif
