/* workload.c: see workload.h. Stores of all widths, copies over several lines, allocation, free,
 * large blocks. */
#define _GNU_SOURCE
#include "workload.h"

#include "harness.h"
#include "heap/heap_types.h"
#include "store.h"

#include <sys/mman.h>
#include <unistd.h>

struct item {
  uint64_t id, size;
  unsigned char bytes[];
};

struct root {
  uint64_t done;
  uint64_t words[WORKLOAD_WORDS];
  struct item *items[WORKLOAD_SLOTS];
};

/* The same in DRAM. */
struct model {
  uint64_t words[WORKLOAD_WORDS];
  uint64_t id[WORKLOAD_SLOTS], size[WORKLOAD_SLOTS];
};

static uint64_t next(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* What transaction t does, as a list both worlds carry out. */
struct step {
  unsigned word, slot;
  uint64_t value, size; /* size 0: free what is there */
  unsigned run;         /* words overwritten at once, from `word` */
  int keep;             /* the slot stays as it is */
};
enum { STEPS = 4 };

static void plan(uint64_t t, struct step steps[STEPS]) {
  uint64_t state = 0x9e3779b97f4a7c15u * (t + 1 + 1000 * test_seed());
  for (int i = 0; i < STEPS; i++) {
    struct step *s = &steps[i];
    s->word = next(&state) % WORKLOAD_WORDS;
    s->value = next(&state);
    s->run = next(&state) % 8 == 0 ? 1 + next(&state) % (WORKLOAD_WORDS - s->word) : 1;
    s->slot = next(&state) % WORKLOAD_SLOTS;
    uint64_t kind = next(&state) % 16;
    s->keep = t % 3 == 1; /* words only */
    s->size = kind == 0 ? 70000 + next(&state) % 60000 : kind < 5 ? 0 : 16 + next(&state) % 2500;
  }
}

static void apply_model(struct model *model, uint64_t t) {
  struct step steps[STEPS];
  plan(t, steps);
  for (int i = 0; i < STEPS; i++) {
    const struct step *s = &steps[i];
    for (unsigned j = 0; j < s->run; j++)
      model->words[s->word + j] = s->value + j;
    if (s->keep)
      continue;
    model->id[s->slot] = s->size ? s->value : 0;
    model->size[s->slot] = s->size;
  }
}

static unsigned char fill_of(uint64_t id) { return (unsigned char)(id >> 8 | 1); }

static struct item *new_item(NVM_POOL *pool, const struct step *s) {
  struct item *item = nvm_alloc(pool, NVM_TYPE_ID(struct item), sizeof *item + s->size);
  CHECK(item != NULL);
  STORE(item->id, s->value);
  STORE(item->size, s->size);
  size_t filled = s->size < 300 ? s->size : 300;
  __nvm_note_if_persistent(item->bytes, filled);
  memset(item->bytes, fill_of(s->value), filled);
  STORE(item->bytes[s->size - 1], fill_of(s->value));
  return item;
}

static void apply_pool(NVM_POOL *pool, struct root *root, uint64_t t) {
  struct step steps[STEPS];
  plan(t, steps);
  for (int i = 0; i < STEPS; i++) {
    const struct step *s = &steps[i];
    if (s->run > 1) {
      uint64_t values[WORKLOAD_WORDS];
      for (unsigned j = 0; j < s->run; j++)
        values[j] = s->value + j;
      store_bytes(&root->words[s->word], values, s->run * sizeof *values);
    } else {
      uint32_t *half = (uint32_t *)&root->words[s->word];
      uint32_t low = (uint32_t)s->value, high = (uint32_t)(s->value >> 32);
      if (s->word % 2) { /* as one group */
        __nvm_note_ahead(&half[0], sizeof low);
        __nvm_note_ahead(&half[1], sizeof high);
        drain_notes();
      }
      STORE(half[0], low);
      STORE(half[1], high);
    }
    if (s->keep)
      continue;
    CHECK(nvm_free(root->items[s->slot]) == 0);
    STORE(root->items[s->slot], s->size ? new_item(pool, s) : NULL);
  }
}

static struct root *get_root(NVM_POOL *pool) {
  struct root *root = nvm_pool_root(pool);
  if (root)
    return root;
  nvm_tx_begin(pool);
  root = nvm_calloc(pool, NVM_TYPE_ID(struct root), 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_tx_commit(pool) == 0);
  return root;
}

void (*workload_opened)(NVM_POOL *);
void (*workload_committed)(NVM_POOL *, uint64_t);

void workload_run(const char *path, struct progress *progress, uint64_t end) {
  NVM_POOL *pool = access(path, F_OK) == 0 ? test_open(path) : test_create(path, 1 << 20);
  if (workload_opened)
    workload_opened(pool);
  struct root *root = get_root(pool);
  for (uint64_t t = root->done; t < end; t++) {
    if (t % 2 == 1) {
      CHECK(nvm_tx_begin(pool) == 0);
      apply_pool(pool, root, t + 1000000);
      CHECK(nvm_tx_abort(pool) == 0);
    }
    CHECK(nvm_tx_begin(pool) == 0);
    apply_pool(pool, root, t);
    STORE(root->done, t + 1);
    CHECK(nvm_tx_commit(pool) == 0);
    progress->acknowledged = t + 1;
    if (workload_committed)
      workload_committed(pool, t + 1);
  }
  CHECK(nvm_pool_close(pool) == 0);
}

static uint64_t verify_items(const struct root *root, const struct model *model) {
  uint64_t blocks = 1;
  for (unsigned i = 0; i < WORKLOAD_SLOTS; i++) {
    const struct item *item = root->items[i];
    CHECK(!item == !model->size[i]);
    if (!item)
      continue;
    blocks++;
    CHECK(item->id == model->id[i] && item->size == model->size[i]);
    CHECK(nvm_usable_size(item) >= sizeof *item + item->size);
    for (size_t j = 0; j < item->size && j < 300; j++)
      CHECK(item->bytes[j] == fill_of(item->id));
    CHECK(item->bytes[item->size - 1] == fill_of(item->id));
  }
  return blocks;
}

uint64_t workload_verify(const char *path, const struct progress *progress) {
  NVM_POOL *pool = test_open(path);
  const struct root *root = nvm_pool_root(pool);
  uint64_t done = root ? root->done : 0;
  CHECK(done - progress->acknowledged <= 1 + progress->interrupted);
  if (root) {
    struct model model = {0};
    for (uint64_t t = 0; t < done; t++)
      apply_model(&model, t);
    for (unsigned i = 0; i < WORKLOAD_WORDS; i++)
      CHECK(root->words[i] == model.words[i]);
    CHECK(test_blocks(pool) == verify_items(root, &model));
  }
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
  return done;
}

struct progress *progress_new(void) {
  struct progress *progress =
      mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(progress != MAP_FAILED);
  return progress;
}
