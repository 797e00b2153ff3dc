/* wrapping.c: see wrapping.h. Stores of 8 bytes at any place, blocks of all sizes that overlap, wraps
 * within wraps, blocks that are allocated, grow, shrink, are freed, and come again within one
 * transaction. */
#include "wrapping.h"

#include "harness.h"
#include "store.h"

#include "nvmove/wrap.h"

#include <string.h>
#include <unistd.h>

enum { AREA = 3000, ITEMS = 8, ITEM_MAX = 90000, STEPS = 8 };

const char *const wrapping_methods[] = {"undo", "shadow", "lat", "latb"};

struct root {
  uint64_t done;
  unsigned char area[AREA];
  unsigned char *items[ITEMS];
};

/* The same in DRAM. */
struct model {
  unsigned char area[AREA];
  unsigned size[ITEMS];
  unsigned char items[ITEMS][ITEM_MAX];
};
static struct model model, before;

struct world {
  NVM_POOL *pool; /* null: only the model changes */
  struct root *root;
  uint64_t state; /* of the random numbers */
};

static uint64_t draw(struct world *world, uint64_t below) {
  world->state ^= world->state << 13;
  world->state ^= world->state >> 7;
  world->state ^= world->state << 17;
  return (world->state >> 11) % below;
}

static size_t draw_size(struct world *world, size_t most) {
  static const size_t limits[] = {8, 8, 24, 24, 70, 400, AREA};
  size_t limit = limits[draw(world, sizeof limits / sizeof *limits)];
  return 1 + draw(world, limit < most ? limit : most);
}

static void fill(struct world *world, unsigned char *bytes, size_t size) {
  unsigned first = (unsigned)draw(world, 251);
  for (size_t i = 0; i < size; i++)
    bytes[i] = (unsigned char)(first + i * 7);
}

static void store_word(struct world *world) {
  size_t at = draw(world, AREA - 7);
  uint64_t value = world->state;
  memcpy(&model.area[at], &value, sizeof value);
  if (world->pool)
    nvm_wrap_store64(&world->root->area[at], value);
}

static void store_block(struct world *world) {
  static unsigned char bytes[AREA];
  size_t size = draw_size(world, AREA), at = draw(world, AREA - size + 1);
  fill(world, bytes, size);
  memcpy(&model.area[at], bytes, size);
  if (world->pool)
    nvm_wrap_write(&world->root->area[at], bytes, size);
}

static void look(struct world *world) {
  static unsigned char bytes[AREA];
  size_t size = draw_size(world, AREA), at = draw(world, AREA - size + 1);
  size_t word = draw(world, AREA - 7);
  if (!world->pool)
    return;
  nvm_wrap_read(bytes, &world->root->area[at], size);
  CHECK(memcmp(bytes, &model.area[at], size) == 0);
  uint64_t value = nvm_wrap_load64(&world->root->area[word]);
  CHECK(memcmp(&value, &model.area[word], sizeof value) == 0);
}

/* What a program of --nvmove-redirect does, and what it calls. */

static void copy_within(struct world *world) {
  size_t size = draw_size(world, AREA / 2), from = draw(world, AREA - size + 1);
  size_t near = from + draw(world, 40), to = draw(world, 2) ? draw(world, AREA - size + 1) : near;
  to = to < AREA - size ? to : AREA - size;
  memmove(&model.area[to], &model.area[from], size);
  if (world->pool)
    __nvm_copy(&world->root->area[to], &world->root->area[from], size);
}

static void fill_part(struct world *world) {
  size_t size = draw_size(world, AREA), at = draw(world, AREA - size + 1);
  int byte = (int)draw(world, 256);
  memset(&model.area[at], byte, size);
  if (world->pool)
    __nvm_fill(&world->root->area[at], byte, size);
}

static void store_small(struct world *world) {
  size_t size = 1 + draw(world, 8), at = draw(world, AREA - size + 1);
  uint64_t value = world->state;
  memcpy(&model.area[at], &value, size);
  if (world->pool)
    __nvm_put(&world->root->area[at], value, size);
}

/* As a pre-compiled function that an .unsafe file describes, or the runtime itself: a note is enough. */
static void store_in_place(struct world *world) {
  static unsigned char bytes[AREA];
  size_t size = draw_size(world, AREA), at = draw(world, AREA - size + 1);
  bool asks = draw(world, 2) == 0;
  fill(world, bytes, size);
  memcpy(&model.area[at], bytes, size);
  if (!world->pool)
    return;
  if (asks)
    __nvm_settle_all();
  store_bytes(&world->root->area[at], bytes, size);
}

static void look_in_place(struct world *world) {
  size_t size = draw_size(world, AREA), at = draw(world, AREA - size + 1);
  bool all = draw(world, 3) == 0;
  if (!world->pool)
    return;
  if (all)
    __nvm_settle_all();
  else
    __nvm_settle(&world->root->area[at], size);
  CHECK(memcmp(&world->root->area[at], &model.area[at], size) == 0);
  uint64_t value = 0, word = __nvm_get(&world->root->area[at], size < 8 ? size : 8);
  memcpy(&value, &model.area[at], size < 8 ? size : 8);
  CHECK(value == word);
}

static unsigned char *item_of(struct world *world, unsigned i) {
  return (unsigned char *)(uintptr_t)nvm_wrap_load64(&world->root->items[i]);
}

static void link_item(struct world *world, unsigned i, void *block) {
  nvm_wrap_store64(&world->root->items[i], (uint64_t)(uintptr_t)block);
}

/* Written in pieces, the last of them first. */
static void write_item(struct world *world, unsigned char *block, const unsigned char *bytes,
                       size_t size) {
  size_t piece = 1 + size / (1 + draw(world, 4));
  for (size_t end = size; end; end = end < piece ? 0 : end - piece) {
    size_t start = end < piece ? 0 : end - piece;
    if (world->pool)
      nvm_wrap_write(block + start, bytes + start, end - start);
  }
}

static void replace_item(struct world *world) {
  unsigned i = (unsigned)draw(world, ITEMS);
  size_t size = draw(world, 40) == 0 ? 70000 + draw(world, 20000) : 16 + draw(world, 1200);
  bool twice = draw(world, 3) == 0, none = draw(world, 5) == 0;
  unsigned char *block = NULL, *old;
  if (world->pool)
    CHECK(nvm_free(item_of(world, i)) == 0);
  model.size[i] = none ? 0 : (unsigned)size;
  fill(world, model.items[i], size);
  if (world->pool && !none) {
    CHECK((block = nvm_alloc(world->pool, 0, size)) != NULL);
    if (twice) { /* it lives once before */
      nvm_wrap_write(block, model.area, size < AREA ? size : AREA);
      old = block;
      CHECK(nvm_free(old) == 0 && (block = nvm_alloc(world->pool, 0, size)) != NULL);
    }
  }
  if (!none)
    write_item(world, block, model.items[i], size);
  if (world->pool)
    link_item(world, i, block);
}

static void check_item(const struct model *of, const unsigned char *block, unsigned i) {
  static unsigned char bytes[ITEM_MAX];
  CHECK(!block == !of->size[i]);
  nvm_wrap_read(bytes, block, of->size[i]);
  CHECK(memcmp(bytes, of->items[i], of->size[i]) == 0);
}

static void change_item(struct world *world) {
  unsigned i = (unsigned)draw(world, ITEMS);
  unsigned char bytes[64];
  size_t size = 1 + draw(world, sizeof bytes), at = draw(world, 1200);
  fill(world, bytes, size);
  if (at + size > model.size[i])
    return;
  memcpy(&model.items[i][at], bytes, size);
  if (!world->pool)
    return;
  nvm_wrap_write(item_of(world, i) + at, bytes, size);
  check_item(&model, item_of(world, i), i);
}

static void resize_item(struct world *world) {
  unsigned i = (unsigned)draw(world, ITEMS);
  size_t size = 16 + draw(world, 1500);
  if (!model.size[i])
    return;
  model.size[i] = model.size[i] < size ? model.size[i] : (unsigned)size;
  if (!world->pool)
    return;
  unsigned char *block = nvm_realloc(world->pool, item_of(world, i), size);
  CHECK(block != NULL);
  link_item(world, i, block);
  check_item(&model, block, i);
}

static void change_item_in_place(struct world *world) {
  unsigned i = (unsigned)draw(world, ITEMS);
  unsigned char bytes[64];
  size_t size = 1 + draw(world, sizeof bytes), at = draw(world, 1200);
  fill(world, bytes, size);
  if (at + size > model.size[i])
    return;
  memcpy(&model.items[i][at], bytes, size);
  if (!world->pool)
    return;
  unsigned char *block = item_of(world, i);
  store_bytes(block + at, bytes, size);
  check_item(&model, block, i);
}

static void nest(struct world *world) {
  if (world->pool)
    CHECK(nvm_wrap_open(world->pool) == 0);
  store_word(world);
  store_block(world);
  if (world->pool)
    CHECK(nvm_wrap_close(world->pool) == 0);
  look(world);
}

static void (*const kinds[])(struct world *) = {store_word,  store_word,   store_block, store_block,
                                                look,        replace_item, nest,        change_item,
                                                resize_item, change_item};

static void (*const redirected_kinds[])(struct world *) = {store_small,
                                                           store_word,
                                                           store_block,
                                                           copy_within,
                                                           fill_part,
                                                           store_in_place,
                                                           look,
                                                           nest,
                                                           replace_item,
                                                           change_item,
                                                           look_in_place,
                                                           store_small,
                                                           change_item_in_place,
                                                           resize_item};
bool wrapping_redirected;

static void step(struct world *world) {
  enum { KINDS = sizeof kinds / sizeof *kinds, MORE = sizeof redirected_kinds / sizeof *kinds };
  if (wrapping_redirected)
    redirected_kinds[draw(world, MORE)](world);
  else
    kinds[draw(world, KINDS)](world);
}

static void apply(NVM_POOL *pool, struct root *root, uint64_t t) {
  struct world world = {pool, root, 0x9e3779b97f4a7c15u * (t + 1 + 1000 * test_seed())};
  for (unsigned i = 0; i < 8; i++)
    draw(&world, 1);
  unsigned steps = t % 7 == 6 ? 20 * STEPS : STEPS; /* more than one frame of the log */
  for (unsigned i = 0; i < steps; i++)
    step(&world);
}

static void check_all(struct root *root) {
  static unsigned char bytes[AREA];
  nvm_wrap_read(bytes, root->area, AREA);
  CHECK(memcmp(bytes, model.area, AREA) == 0);
  for (unsigned i = 0; i < ITEMS; i++)
    check_item(&model, (unsigned char *)(uintptr_t)nvm_wrap_load64(&root->items[i]), i);
}

static struct root *get_root(NVM_POOL *pool) {
  struct root *root = nvm_pool_root(pool);
  if (root)
    return root;
  CHECK(nvm_wrap_open(pool) == 0);
  root = nvm_calloc(pool, 0, 1, sizeof *root);
  CHECK(root && nvm_pool_set_root(pool, root) == 0 && nvm_pool_root(pool) == root);
  CHECK(nvm_wrap_close(pool) == 0);
  return root;
}

static void model_after(uint64_t transactions) {
  memset(&model, 0, sizeof model);
  for (uint64_t t = 0; t < transactions; t++)
    apply(NULL, NULL, t);
}

static void undo_one(NVM_POOL *pool, struct root *root, uint64_t t) {
  memcpy(&before, &model, sizeof model);
  CHECK(nvm_wrap_open(pool) == 0);
  apply(pool, root, t + 1000000);
  CHECK(nvm_tx_abort(pool) == 0);
  memcpy(&model, &before, sizeof model);
  check_all(root);
}

void wrapping_run(const char *path, struct progress *progress, uint64_t end) {
  if (wrapping_redirected)
    __nvm_describe_accesses(NVM_REDIRECTED, &NVM_REDIRECTED[1]);
  NVM_POOL *pool = access(path, F_OK) == 0 ? test_open(path) : test_create(path, 2 << 20);
  if (workload_opened)
    workload_opened(pool);
  struct root *root = get_root(pool);
  model_after(root->done);
  for (uint64_t t = root->done; t < end; t++) {
    if (t % 2 == 1)
      undo_one(pool, root, t);
    CHECK(nvm_wrap_open(pool) == 0);
    apply(pool, root, t);
    nvm_wrap_store64(&root->done, t + 1);
    CHECK(nvm_wrap_load64(&root->done) == t + 1);
    CHECK(nvm_wrap_close(pool) == 0);
    progress->acknowledged = t + 1;
    CHECK(root->done == t + 1);
  }
  check_all(root);
  CHECK(nvm_pool_close(pool) == 0);
}

uint64_t wrapping_verify(const char *path, const struct progress *progress) {
  static unsigned turn;
  char method[16];
  snprintf(method, sizeof method, "%s", getenv("NVMOVE_METHOD"));
  setenv("NVMOVE_METHOD", wrapping_methods[turn++ % WRAPPING_METHODS], 1);
  NVM_POOL *pool = test_open(path);
  setenv("NVMOVE_METHOD", method, 1);
  struct root *root = nvm_pool_root(pool);
  uint64_t done = root ? root->done : 0, blocks = 1;
  CHECK(done - progress->acknowledged <= 1 + progress->interrupted);
  if (root) {
    model_after(done);
    check_all(root);
    for (unsigned i = 0; i < ITEMS; i++)
      blocks += model.size[i] != 0;
    CHECK(test_blocks(pool) == blocks);
  }
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(path);
  return done;
}
