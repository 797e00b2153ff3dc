/* records.c: fills random records, and looks whether a pool has them still (records.py). */
#include "records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECTS_MAX = 64, POOL = 8 << 20 };

struct all {
  uint64_t base; /* of the pool when it was filled: an old address in a number stays */
  node *weak;    /* what weak pointers lead to */
  void *objects[OBJECTS_MAX];
};

static const long constants[4] = {11, 12, 13, 14};
static long one(void) { return 1; }
static long two(void) { return 2; }
static long (*const functions[])(void) = {one, two};
static NVM_POOL *pool;
static struct all *all;

/* A word in its place: which object, record and leaf. */
struct at {
  unsigned object, record, leaf;
};

static void fail(const struct at *at, const char *what) {
  const struct object *o = &objects[at->object];
  printf("object %u, record %u, %s: %s (%s)\n", at->object, at->record, o->leaves[at->leaf].path,
         what, nvm_strerror());
  exit(1);
}

static void require(bool holds, const char *what) {
  if (holds)
    return;
  printf("%s: %s\n", what, nvm_strerror());
  exit(1);
}

static const struct leaf *leaf_of(const struct at *at) {
  return &objects[at->object].leaves[at->leaf];
}

static char *place_of(const struct at *at) {
  return (char *)all->objects[at->object] + at->record * objects[at->object].size +
         leaf_of(at)->offset;
}

static uint64_t get(const struct at *at) {
  uint64_t value;
  memcpy(&value, place_of(at), sizeof value);
  return value;
}

static void put(const struct at *at, uint64_t value) { memcpy(place_of(at), &value, sizeof value); }

static long number_of(const struct at *at) {
  return at->object * 100000L + at->record * 10000 + at->leaf + 1;
}

/* Of the process, of the pool, or small. */
static uint64_t look_alike(const struct at *at) {
  long n = number_of(at);
  return n % 3 == 0   ? all->base + 0x40000 + (uint64_t)n * 16
         : n % 3 == 1 ? UINT64_C(0x7f1234560000) + (uint64_t)n * 16
                      : (uint64_t)n;
}

static bool has_node(const struct at *at) {
  enum kind kind = leaf_of(at)->kind;
  return kind == POINTER || kind == WEAK ||
         ((kind == EITHER || kind == UNDECIDED) && number_of(at) % 2);
}

/* Pointers to the program are null where they are not aligned: those are refused. */
static uint64_t value_of(const struct at *at) {
  long n = number_of(at);
  if ((uintptr_t)place_of(at) % sizeof(uint64_t) &&
      (leaf_of(at)->kind == FUNCTION || leaf_of(at)->kind == CONSTANT))
    return 0;
  switch (leaf_of(at)->kind) {
  case FUNCTION:
    return (uint64_t)(uintptr_t)functions[n % 2];
  case CONSTANT:
    return (uint64_t)(uintptr_t)&constants[n % 4];
  case EITHER: /* not of the pool: it would be a pointer */
    return UINT64_C(0x7f1234560000) + (uint64_t)n;
  default:
    return look_alike(at);
  }
}

static void fill(const struct at *at) {
  const struct leaf *leaf = leaf_of(at);
  uint64_t value = value_of(at);
  if (has_node(at)) {
    node *made = nvm_alloc(pool, NVM_TYPE_ID(node), sizeof *made);
    if (!made)
      fail(at, "no node");
    *made = (node){leaf->kind == WEAK ? all->weak : NULL, number_of(at)};
    if (leaf->kind == WEAK)
      all->weak = made;
    value = (uint64_t)(uintptr_t)made;
  }
  put(at, value | leaf->tag);
}

static void look(const struct at *at) {
  uint64_t tag = leaf_of(at)->tag, value = get(at) & ~tag;
  if ((get(at) & tag) != tag)
    fail(at, "the tag is another");
  if (!has_node(at)) {
    if (value != (value_of(at) & ~tag))
      fail(at, "the value is another");
    return;
  }
  const node *led = (const node *)(uintptr_t)value;
  if (nvm_pool_of(led) != pool || led->value != number_of(at))
    fail(at, "it leads elsewhere");
}

static void each(void (*visit)(const struct at *at)) {
  struct at at;
  for (at.object = 0; at.object < object_count; at.object++)
    for (at.record = 0; at.record < objects[at.object].records; at.record++)
      for (at.leaf = 0; at.leaf < objects[at.object].leaf_count; at.leaf++)
        visit(&at);
}

static size_t bytes_of(const struct object *object) {
  size_t end = object->bytes;
  for (unsigned i = 0; !object->bytes && i < object->leaf_count; i++)
    if (end < object->leaves[i].offset + sizeof(uint64_t))
      end = object->leaves[i].offset + sizeof(uint64_t);
  return end;
}

static void fill_all(void) {
  require(nvm_tx_begin(pool) == 0, "begin");
  all = nvm_calloc(pool, NVM_TYPE_ID(struct all), 1, sizeof *all);
  require(all != NULL, "no room");
  all->base = (uint64_t)(uintptr_t)nvm_pool_base(pool);
  for (unsigned i = 0; i < object_count; i++) {
    const struct object *o = &objects[i];
    size_t bytes = bytes_of(o);
    char *made = nvm_alloc(pool, o->type(), bytes);
    require(made != NULL, "no room");
    memset(made, 0, bytes);
    for (unsigned r = 0; r < o->records; r++)
      o->decide(made + r * o->size);
    all->objects[i] = made;
  }
  each(fill);
  require(nvm_pool_set_root(pool, all) == 0, "root");
  require(nvm_tx_commit(pool) == 0, "the commit fails");
}

static void *stray;

/* An address of the process in a leaf: refused, or a number. */
static void strays(const struct at *at) {
  enum kind kind = leaf_of(at)->kind;
  bool is_number = kind == NUMBER || kind == EITHER || kind == DORMANT || kind == UNDECIDED;
  uint64_t before = get(at);
  require(nvm_tx_begin(pool) == 0, "begin");
  put(at, (uint64_t)(uintptr_t)stray | leaf_of(at)->tag);
  int status = nvm_tx_commit(pool);
  if (is_number && status)
    fail(at, "a number is refused");
  if (!is_number && (!status || nvm_errno() != NVM_EUNSAFE))
    fail(at, "an unsafe pointer commits");
  if (!is_number && get(at) != before)
    fail(at, "an unsafe pointer was refused, and is there");
  require(nvm_tx_begin(pool) == 0, "begin");
  put(at, before);
  if (nvm_tx_commit(pool))
    fail(at, "what was there is refused");
}

static void put_stray(const struct at *at) {
  if (leaf_of(at)->kind == DORMANT)
    put(at, (uint64_t)(uintptr_t)stray | leaf_of(at)->tag);
}

static void put_back(const struct at *at) {
  if (leaf_of(at)->kind == DORMANT)
    put(at, value_of(at) | leaf_of(at)->tag);
}

static void all_dormant(void (*change)(const struct at *at)) {
  require(nvm_tx_begin(pool) == 0, "begin");
  each(change);
  require(nvm_tx_commit(pool) == 0, "numbers are refused");
}

/* A member that decides makes numbers pointers, without a store to them. */
static void waken_all(void) {
  all_dormant(put_stray);
  for (unsigned i = 0; i < object_count; i++)
    for (unsigned r = 0; r < objects[i].records; r++)
      for (unsigned which = 0, more = 1; more; which++) {
        require(nvm_tx_begin(pool) == 0, "begin");
        more = (unsigned)objects[i].waken((char *)all->objects[i] + r * objects[i].size, which);
        int status = nvm_tx_commit(pool);
        if (!more || (status && nvm_errno() == NVM_EUNSAFE))
          continue;
        printf("object %u, record %u, decider %u: an unsafe pointer commits\n", i, r, which);
        exit(1);
      }
  all_dormant(put_back);
}

int main(int count, char **words) {
  const char *what = count == 3 ? words[1] : "";
  pool = strcmp(what, "fill") == 0 ? nvm_pool_create(words[2], POOL) : nvm_pool_open(words[2]);
  require(pool != NULL, "no pool");
  stray = malloc(64);
  if (strcmp(what, "fill") == 0)
    fill_all();
  all = nvm_pool_root(pool);
  each(look);
  struct nvm_collected collected = {0};
  if (strcmp(what, "collect") == 0) {
    require(nvm_pool_collect(pool, &collected) == 0, "collect");
    require(collected.freed_blocks == 0, "the collector frees what is reached");
  }
  if (strcmp(what, "unsafe") == 0) {
    each(strays);
    waken_all();
  }
  each(look);
  require(nvm_pool_close(pool) == 0, "close");
  free(stray);
  return 0;
}
