/* storm.c: several threads write to a pool until the process is killed; then somebody looks.
 *
 * usage: storm run POOL PROGRESS SEED [broken|early] [counted]
 *        storm verify POOL PROGRESS SEED [early] [counted] [cut]
 *
 * Each thread owns a part of the store, but all share its buckets, their locks, and the allocator.
 * An operation's number is written by its own transaction: so the state of a thread's part must be
 * exactly that after its first n operations, where n is the last one it has acknowledged, or the
 * one after. `broken` commits in the middle of operations: the storm must notice. `early` releases
 * locks before the commit, in any order, and aborts: transactions depend on each other, also in
 * circles; those that cannot commit are begun again. What depends on what may be undone are numbers
 * here, no pointers. `counted`: the pool counts references, and a release must free nothing. Each item has a
 * pointer to a function, whose address differs from run to run. Verification prints "right", or what is
 * wrong; with `cut` the last acknowledged operations may be missing.
 */
#include "storm.h"

#include "nvmove/nvmove.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BUCKETS = 16, OPENING_BALANCE = 1000, POOL_BYTES = 1 << 20, COUNTERS = 4 };

NVM_STRUCT item {
  struct item *next;
  unsigned thread, slot;
  uint64_t number; /* the operation that wrote the text */
  uint32_t length;
  char *text;
  void (*mark)(void); /* of its slot */
};

NVM_STRUCT store {
  struct item *bucket[BUCKETS];
  uint64_t done[THREADS], items[THREADS];
  uint64_t balance[THREADS][SLOTS];
  uint64_t transfers;
  uint64_t counter[COUNTERS], counted[THREADS][COUNTERS]; /* the sum, and each thread's part */
};

static NVM_POOL *pool;
static struct store *store;
static struct progress *progress;
static pthread_mutex_t locks[BUCKETS], transfer_lock, counter_locks[COUNTERS];
static uint64_t seed;
static bool broken, early, cut, counted;

enum { MARKS = 4 };
static volatile int marked;
static void mark_0(void) { marked = 0; }
static void mark_1(void) { marked = 1; }
static void mark_2(void) { marked = 2; }
static void mark_3(void) { marked = 3; }
static void (*const marks[MARKS])(void) = {mark_0, mark_1, mark_2, mark_3};

static void need(bool condition, const char *what) {
  if (condition)
    return;
  printf("%s: %s\n", what, nvm_strerror());
  fflush(stdout);
  _exit(3);
}

/* With `early` each thread has its own. */
static unsigned bucket_of(unsigned thread, unsigned slot) {
  return early ? slot % (BUCKETS / THREADS) * THREADS + thread : (slot * 5 + thread) % BUCKETS;
}

static struct item **find(unsigned thread, unsigned slot) {
  struct item **link = &store->bucket[bucket_of(thread, slot)];
  while (*link && ((*link)->thread != thread || (*link)->slot != slot))
    link = &(*link)->next;
  return link;
}

static void write_text(struct item *item) {
  for (uint32_t i = 0; i < item->length; i++)
    item->text[i] = storm_byte(item->slot, item->number, i);
}

static void put(unsigned thread, unsigned slot, uint32_t length, uint64_t number) {
  struct item **link = find(thread, slot), *item = *link;
  if (!item) {
    item = nvm_calloc(pool, NVM_TYPE_ID(struct item), 1, sizeof *item);
    need(item != NULL, "nvm_calloc");
    item->thread = thread;
    item->slot = slot;
    item->mark = marks[slot % MARKS];
    item->next = *link;
    *link = item;
    store->items[thread]++;
  }
  item->text = nvm_realloc(pool, item->text, length);
  need(item->text != NULL, "nvm_realloc");
  item->number = number;
  item->length = length;
  write_text(item);
}

static void drop(unsigned thread, unsigned slot) {
  struct item **link = find(thread, slot), *item = *link;
  if (!item)
    return;
  *link = item->next;
  store->items[thread]--;
  nvm_free(item->text);
  nvm_free(item);
}

static void transfer(unsigned thread, const struct operation *o) {
  store->balance[thread][o->slot[0]] -= 3;
  store->balance[thread][o->slot[1]] += 3;
  store->transfers++;
}

static void apply(unsigned thread, const struct operation *o, uint64_t number) {
  switch (o->kind) {
  case PUT:
    put(thread, o->slot[0], o->length[0], number);
    break;
  case REMOVE:
    drop(thread, o->slot[0]);
    break;
  case PUT_THREE:
    for (int i = 0; i < 3; i++)
      put(thread, o->slot[i], o->length[i] % 200 + 1, number);
    break;
  case TRANSFER:
    transfer(thread, o);
    break;
  }
  if (broken) {
    nvm_tx_commit(pool);
    nvm_tx_begin(pool);
  }
  store->done[thread] = number;
}

/* The locks of an operation, lowest first; each once. Held until the commit has returned. */
static unsigned long locks_of(unsigned thread, const struct operation *o) {
  unsigned long set = 0;
  for (int i = 0; i < (o->kind == PUT_THREE ? 3 : 1); i++)
    set |= 1ul << bucket_of(thread, o->slot[i]);
  return o->kind == TRANSFER ? 0 : set;
}

static void lock(unsigned long set, bool transfers) {
  for (unsigned i = 0; i < BUCKETS; i++)
    if (set >> i & 1)
      pthread_mutex_lock(&locks[i]);
  if (transfers)
    pthread_mutex_lock(&transfer_lock);
}

static void unlock(unsigned long set, bool transfers) {
  for (unsigned i = 0; i < BUCKETS; i++)
    if (set >> i & 1)
      pthread_mutex_unlock(&locks[i]);
  if (transfers)
    pthread_mutex_unlock(&transfer_lock);
}

static void *work(void *argument) {
  unsigned thread = (unsigned)(uintptr_t)argument;
  for (;;) {
    uint64_t number = store->done[thread] + 1;
    struct operation o = storm_operation(seed, thread, number);
    unsigned long set = locks_of(thread, &o);
    lock(set, o.kind == TRANSFER);
    nvm_tx_begin(pool);
    apply(thread, &o, number);
    need(nvm_tx_commit(pool) == 0, "nvm_tx_commit");
    unlock(set, o.kind == TRANSFER);
    progress->acknowledged[thread] = number;
  }
}

static void count(unsigned thread, unsigned counter) {
  store->counter[counter]++;
  store->counted[thread][counter]++;
}

/* Two counters; gives the one whose lock is held until the commit has returned, or COUNTERS. */
static unsigned count_two(unsigned thread, uint64_t dice) {
  unsigned a = dice % COUNTERS, b = (a + 1 + dice / COUNTERS % (COUNTERS - 1)) % COUNTERS;
  pthread_mutex_lock(&counter_locks[a]);
  count(thread, a);
  pthread_mutex_unlock(&counter_locks[a]);
  if (dice >> 20 & 1)
    sched_yield();
  pthread_mutex_lock(&counter_locks[b]);
  count(thread, b);
  if (!(dice >> 21 & 3))
    return b;
  pthread_mutex_unlock(&counter_locks[b]);
  return COUNTERS;
}

static void apply_early(unsigned thread, uint64_t number) {
  struct operation o = storm_operation(seed, thread, number);
  lock(0, o.kind == TRANSFER);
  apply(thread, &o, number);
  unlock(0, o.kind == TRANSFER);
}

static bool commit_early(void) {
  bool committed = nvm_tx_commit(pool) == 0;
  need(committed || nvm_errno() == NVM_EBROKEN || nvm_errno() == NVM_EDEADLOCK, "nvm_tx_commit");
  return committed;
}

/* What was undone with another's is done again at once where its lock is still held. */
static void *work_early(void *argument) {
  unsigned thread = (unsigned)(uintptr_t)argument;
  uint64_t state = (uint64_t)getpid() << 8 | thread;
  for (;;) {
    uint64_t number = store->done[thread] + 1, dice = storm_random(&state);
    nvm_tx_begin(pool);
    apply_early(thread, number);
    unsigned held = count_two(thread, dice);
    bool aborts = !(dice >> 32 & 7), committed = !aborts && commit_early();
    if (aborts)
      nvm_tx_abort(pool);
    if (!committed && held < COUNTERS) {
      nvm_tx_begin(pool);
      count(thread, held);
      count(thread, held);
      apply_early(thread, number);
      committed = commit_early();
    }
    if (held < COUNTERS)
      pthread_mutex_unlock(&counter_locks[held]);
    if (committed)
      progress->acknowledged[thread] = number;
  }
}

static void prepare(const char *path) {
  pool = access(path, F_OK) == 0 ? nvm_pool_open(path) : nvm_pool_create(path, POOL_BYTES);
  need(pool != NULL, path);
  store = nvm_pool_root(pool);
}

static void create_store(void) {
  if (counted)
    need(nvm_pool_count_references(pool) == 0, "nvm_pool_count_references");
  nvm_tx_begin(pool);
  store = nvm_calloc(pool, NVM_TYPE_ID(struct store), 1, sizeof *store);
  need(store != NULL, "nvm_calloc");
  for (unsigned t = 0; t < THREADS; t++)
    for (unsigned i = 0; i < SLOTS; i++)
      store->balance[t][i] = OPENING_BALANCE;
  nvm_pool_set_root(pool, store);
  need(nvm_tx_commit(pool) == 0, "nvm_tx_commit");
}

static void run(void) {
  if (!store)
    create_store();
  for (unsigned i = 0; i < BUCKETS; i++)
    pthread_mutex_init(&locks[i], NULL);
  for (unsigned i = 0; i < COUNTERS; i++)
    pthread_mutex_init(&counter_locks[i], NULL);
  pthread_mutex_init(&transfer_lock, NULL);
  printf("running\n");
  fflush(stdout);
  pthread_t threads[THREADS];
  for (unsigned t = 0; t < THREADS; t++)
    need(pthread_create(&threads[t], NULL, early ? work_early : work, (void *)(uintptr_t)t) == 0,
         "pthread_create");
  pthread_join(threads[0], NULL);
}

/* What a thread's part is after its first operations. */
struct model {
  uint64_t number[SLOTS], balance[SLOTS], items, transfers; /* number 0: nothing there */
  uint32_t length[SLOTS];
};

static void model_put(struct model *m, unsigned slot, uint32_t length, uint64_t number) {
  m->items += !m->number[slot];
  m->number[slot] = number;
  m->length[slot] = length;
}

static void model_apply(struct model *m, struct operation o, uint64_t number) {
  if (o.kind == PUT)
    model_put(m, o.slot[0], o.length[0], number);
  if (o.kind == REMOVE) {
    m->items -= m->number[o.slot[0]] != 0;
    m->number[o.slot[0]] = 0;
  }
  for (int i = 0; i < 3 && o.kind == PUT_THREE; i++)
    model_put(m, o.slot[i], o.length[i] % 200 + 1, number);
  if (o.kind == TRANSFER) {
    m->balance[o.slot[0]] -= 3;
    m->balance[o.slot[1]] += 3;
    m->transfers++;
  }
}

static void wrong(unsigned thread, const char *what, uint64_t found, uint64_t wanted) {
  printf("thread %u: %s is %llu, not %llu\n", thread, what, (unsigned long long)found,
         (unsigned long long)wanted);
  fflush(stdout);
  _exit(2);
}

static void compare_slot(unsigned thread, unsigned slot, const struct model *m) {
  const struct item *item = *find(thread, slot);
  if (!item != !m->number[slot])
    wrong(thread, "a text's presence", item != NULL, m->number[slot] != 0);
  if (!item)
    return;
  if (item->number != m->number[slot])
    wrong(thread, "a text's operation", item->number, m->number[slot]);
  if (item->mark != marks[slot % MARKS])
    wrong(thread, "a function", (uintptr_t)item->mark, (uintptr_t)marks[slot % MARKS]);
  if (item->length != m->length[slot])
    wrong(thread, "a text's length", item->length, m->length[slot]);
  for (uint32_t i = 0; i < item->length; i++)
    if (item->text[i] != storm_byte(slot, item->number, i))
      wrong(thread, "a byte of a text", (unsigned char)item->text[i],
            (unsigned char)storm_byte(slot, item->number, i));
}

static uint64_t compare_thread(unsigned thread) {
  static struct model m;
  m = (struct model){0};
  uint64_t done = store->done[thread], known = progress->acknowledged[thread];
  if (done > known + 1 || (done < known && !cut))
    wrong(thread, "the last operation", done, known);
  for (unsigned slot = 0; slot < SLOTS; slot++)
    m.balance[slot] = OPENING_BALANCE;
  for (uint64_t n = 1; n <= done; n++)
    model_apply(&m, storm_operation(seed, thread, n), n);
  for (unsigned slot = 0; slot < SLOTS; slot++) {
    compare_slot(thread, slot, &m);
    if (store->balance[thread][slot] != m.balance[slot])
      wrong(thread, "a balance", store->balance[thread][slot], m.balance[slot]);
  }
  if (store->items[thread] != m.items)
    wrong(thread, "the count of texts", store->items[thread], m.items);
  progress->acknowledged[thread] = done;
  return m.transfers;
}

static void compare_counters(void) {
  for (unsigned c = 0; c < COUNTERS; c++) {
    uint64_t sum = 0;
    for (unsigned t = 0; t < THREADS; t++)
      sum += store->counted[t][c];
    if (store->counter[c] != sum)
      wrong(THREADS, "a counter", store->counter[c], sum);
  }
  for (unsigned t = 0; early && t < THREADS; t++) {
    uint64_t sum = 0;
    for (unsigned c = 0; c < COUNTERS; c++)
      sum += store->counted[t][c];
    if (sum != 2 * store->done[t])
      wrong(t, "what it counted", sum, 2 * store->done[t]);
  }
}

static void print_fault(void *unused, const char *line) {
  (void)unused;
  printf("%s\n", line);
}

/* Nothing besides the store is allocated: each text and each item is one block. */
static void verify(void) {
  uint64_t transfers = 0, blocks = store ? 1 : 0;
  for (unsigned t = 0; store && t < THREADS; t++) {
    transfers += compare_thread(t);
    blocks += 2 * store->items[t];
  }
  if (store && store->transfers != transfers)
    wrong(THREADS, "the sum of transfers", store->transfers, transfers);
  if (store)
    compare_counters();
  if (nvm_pool_verify(pool, print_fault, NULL) != 0)
    _exit(2);
  uint64_t freed = 0;
  if (store && counted && nvm_pool_release(pool, &freed)) {
    printf("nvm_pool_release: %s\n", nvm_strerror()); /* no refusal of the opening */
    fflush(stdout);
    _exit(2);
  }
  if (freed)
    wrong(THREADS, "the count of blocks that nothing led to", freed, 0);
  struct nvm_usage usage;
  if (nvm_pool_usage(pool, &usage) || usage.blocks != blocks)
    wrong(THREADS, "the count of blocks", usage.blocks, blocks);
  printf("right\n");
}

static bool among(char **words, const char *word) {
  while (*words && strcmp(*words, word) != 0)
    words++;
  return *words != NULL;
}

int main(int argc, char **argv) {
  if (argc < 5 || (strcmp(argv[1], "run") != 0 && strcmp(argv[1], "verify") != 0)) {
    fprintf(stderr, "usage: storm run|verify POOL PROGRESS SEED [broken] [early] [counted] [cut]\n");
    return 1;
  }
  int fd = open(argv[3], O_RDWR | O_CREAT, 0600);
  need(fd >= 0 && ftruncate(fd, 4096) == 0, argv[3]);
  progress = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  need(progress != MAP_FAILED, "mmap");
  seed = strtoull(argv[4], NULL, 10);
  broken = among(argv + 5, "broken");
  early = among(argv + 5, "early");
  cut = among(argv + 5, "cut");
  counted = among(argv + 5, "counted");
  prepare(argv[2]);
  if (strcmp(argv[1], "run") == 0)
    run();
  else
    verify();
  return nvm_pool_close(pool) == 0 ? 0 : 3;
}
