/* btree.c: inserts into a B-tree in a pool, through nvmove/wrap.h, at a given rate: the experiment of the SCM
 * paper (section IV, figure 4). Compiled by a plain compiler.
 *
 * usage: btree POOL PREFILL INSERTS RATE elements|blocks
 * RATE: inserts a second that come in; 0: back to back. elements: what moves within a node is
 * loaded and stored word by word; blocks: by nvm_wrap_read and nvm_wrap_write.
 *
 * Each insert is a wrap. Prints what one insert took on average, from its beginning to the return of its
 * close, and what it did: loads, stores, fences, log entries, bytes of the log, lines flushed. The
 * method is NVMOVE_METHOD's.
 *
 * With -DDIRECT it is the lower bound: stores are made in place, an insert ends with a flush of each line
 * that it has changed and one fence, and a failure in the middle of it leaves half an insert.
 */
#define _GNU_SOURCE
#include "nvmove/nvmove.h"
#include "nvmove/wrap.h"

#ifdef DIRECT
#include "core/pool.h"
#endif

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 15, HALF = KEYS / 2 };

struct node {
  uint64_t count, is_leaf;
  uint64_t keys[KEYS], values[KEYS];
  struct node *children[KEYS + 1];
};

static NVM_POOL *pool;
static struct node **root;
static uint64_t loads, stores; /* of words and of blocks */
static int by_blocks;

static void stop(const char *what) {
  fprintf(stderr, "btree: %s: %s\n", what, nvm_strerror());
  exit(1);
}

#ifdef DIRECT
enum { LINES_MAX = 256 };
static uintptr_t changed[LINES_MAX]; /* lines, each once */
static unsigned changed_count;

static void change(const void *at, size_t size) {
  for (uintptr_t line = (uintptr_t)at / 64; line <= ((uintptr_t)at + size - 1) / 64; line++) {
    unsigned i = 0;
    while (i < changed_count && changed[i] != line)
      i++;
    if (i == LINES_MAX)
      abort();
    changed[i] = line;
    changed_count += i == changed_count;
  }
}

static void open_wrap(void) {}
static void close_wrap(void) {
  for (unsigned i = 0; i < changed_count; i++)
    pool->persist->flush((const void *)(changed[i] * 64), 64);
  changed_count = 0;
  pool->persist->fence();
}
static uint64_t load_word(const void *at) { return *(const uint64_t *)at; }
static void store_word(void *at, uint64_t value) {
  *(uint64_t *)at = value;
  change(at, sizeof value);
}
static void read_block(void *to, const void *from, size_t size) { memcpy(to, from, size); }
static void write_block(void *to, const void *from, size_t size) {
  memcpy(to, from, size);
  change(to, size);
}
#else
static void open_wrap(void) {
  if (nvm_wrap_open(pool))
    stop("open");
}
static void close_wrap(void) {
  if (nvm_wrap_close(pool))
    stop("close");
}
static uint64_t load_word(const void *at) { return nvm_wrap_load64(at); }
static void store_word(void *at, uint64_t value) { nvm_wrap_store64(at, value); }
static void read_block(void *to, const void *from, size_t size) { nvm_wrap_read(to, from, size); }
static void write_block(void *to, const void *from, size_t size) { nvm_wrap_write(to, from, size); }
#endif

static uint64_t load(const void *at) {
  loads++;
  return load_word(at);
}
static void store(void *at, uint64_t value) {
  stores++;
  store_word(at, value);
}
static struct node *load_node(struct node *const *at) { return (struct node *)(uintptr_t)load(at); }

/* Words [from, from + count) of an array come to lie at `to`, of the same array or another. */
static void move(void *to_array, uint64_t to, const void *from_array, uint64_t from,
                 uint64_t count) {
  const uint64_t *source = (const uint64_t *)from_array + from;
  uint64_t *target = (uint64_t *)to_array + to, words[KEYS + 1];
  if (!count)
    return;
  if (by_blocks) {
    loads++, stores++;
    read_block(words, source, count * sizeof *words);
    write_block(target, words, count * sizeof *words);
    return;
  }
  for (uint64_t i = count; i-- > 0;) /* from the end, as a node's words move up */
    store(&target[i], load(&source[i]));
}

static struct node *new_node(uint64_t is_leaf) {
  struct node empty = {.is_leaf = is_leaf}, *made = nvm_alloc(pool, 0, sizeof empty);
  if (!made)
    stop("alloc");
  stores++;
  write_block(made, &empty, sizeof empty);
  return made;
}

/* Splits the full child number `i` of a node that is not full. */
static void split(struct node *parent, uint64_t i) {
  struct node *left = load_node(&parent->children[i]);
  uint64_t is_leaf = load(&left->is_leaf), count = load(&parent->count);
  struct node *right = new_node(is_leaf);
  move(right->keys, 0, left->keys, HALF + 1, KEYS - HALF - 1);
  move(right->values, 0, left->values, HALF + 1, KEYS - HALF - 1);
  if (!is_leaf)
    move(right->children, 0, left->children, HALF + 1, KEYS - HALF);
  store(&right->count, KEYS - HALF - 1);
  store(&left->count, HALF);
  move(parent->children, i + 2, parent->children, i + 1, count - i);
  move(parent->keys, i + 1, parent->keys, i, count - i);
  move(parent->values, i + 1, parent->values, i, count - i);
  store(&parent->children[i + 1], (uint64_t)(uintptr_t)right);
  store(&parent->keys[i], load(&left->keys[HALF]));
  store(&parent->values[i], load(&left->values[HALF]));
  store(&parent->count, count + 1);
}

/* The number of the first key that is not less. */
static uint64_t find(const struct node *node, uint64_t count, uint64_t key) {
  uint64_t low = 0, high = count;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (load(&node->keys[middle]) < key)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static struct node *room_at_root(void) {
  struct node *top = load_node(root);
  if (load(&top->count) < KEYS)
    return top;
  struct node *above = new_node(0);
  store(&above->children[0], (uint64_t)(uintptr_t)top);
  store(root, (uint64_t)(uintptr_t)above);
  split(above, 0);
  return above;
}

static void insert(uint64_t key, uint64_t value) {
  struct node *node = room_at_root();
  for (;;) {
    uint64_t count = load(&node->count), i = find(node, count, key);
    if (i < count && load(&node->keys[i]) == key) {
      store(&node->values[i], value);
      return;
    }
    if (load(&node->is_leaf)) {
      move(node->keys, i + 1, node->keys, i, count - i);
      move(node->values, i + 1, node->values, i, count - i);
      store(&node->keys[i], key);
      store(&node->values[i], value);
      store(&node->count, count + 1);
      return;
    }
    struct node *child = load_node(&node->children[i]);
    if (load(&child->count) == KEYS) {
      split(node, i);
      continue; /* the key of the middle came up: once more in this node */
    }
    node = child;
  }
}

/* Keys below `key_max` in their order; how many there are. */
static uint64_t check(const struct node *node, uint64_t *last) {
  uint64_t sum = node->count;
  for (uint64_t i = 0; i <= node->count; i++) {
    if (!node->is_leaf)
      sum += check(node->children[i], last);
    if (i == node->count)
      break;
    if (node->keys[i] <= *last) {
      fprintf(stderr, "btree: the keys are not in their order\n");
      exit(1);
    }
    *last = node->keys[i];
  }
  return sum;
}

static uint64_t next_key(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state | 1;
}

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void insert_one(uint64_t *state) {
  uint64_t key = next_key(state);
  open_wrap();
  insert(key, ~key);
  close_wrap();
}

static int by_value(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* Nanoseconds that an insert took itself, on average. One in 200, the slowest, is left out: the machine did
 * something else meanwhile. (A log turns more often.) */
static double run(uint64_t inserts, uint64_t rate, uint64_t *state) {
  uint64_t *times = malloc(inserts * sizeof *times + 1), sum = 0, kept = inserts - inserts / 200;
  uint64_t start = now_ns();
  if (!times)
    exit(1);
  for (uint64_t i = 0; i < inserts; i++) {
    uint64_t due = rate ? start + i * 1000000000 / rate : 0, begin;
    do
      begin = now_ns();
    while (begin < due);
    insert_one(state);
    times[i] = now_ns() - begin;
  }
  qsort(times, inserts, sizeof *times, by_value);
  for (uint64_t i = 0; i < kept; i++)
    sum += times[i];
  free(times);
  return kept ? (double)sum / (double)kept : 0;
}

static void print(double taken, double inserts, const struct nvm_stats *before) {
  struct nvm_stats now;
  nvm_pool_stats(pool, &now);
  printf("ns=%.1f loads=%.2f stores=%.2f commits=%.2f fences=%.2f entries=%.2f log_bytes=%.1f "
         "lines=%.2f\n",
         taken, (double)loads / inserts, (double)stores / inserts,
         (double)(now.commits - before->commits) / inserts,
         (double)(now.fences - before->fences) / inserts,
         (double)(now.log_entries - before->log_entries) / inserts,
         (double)(now.log_bytes - before->log_bytes) / inserts,
         (double)(now.flushed_lines - before->flushed_lines) / inserts);
}

int main(int argc, char **argv) {
  if (argc != 6) {
    fprintf(stderr, "usage: btree POOL PREFILL INSERTS RATE elements|blocks\n");
    return 2;
  }
  uint64_t prefill = strtoull(argv[2], NULL, 10), inserts = strtoull(argv[3], NULL, 10);
  uint64_t rate = strtoull(argv[4], NULL, 10), state = 88172645463325252u, last = 0;
  by_blocks = strcmp(argv[5], "blocks") == 0;
  unlink(argv[1]);
  if (!(pool = nvm_pool_create(argv[1], (size_t)256 << 20)))
    stop("create");
  if (nvm_tx_begin(pool) || !(root = nvm_calloc(pool, 0, 1, 64)))
    stop("the root");
  store(root, (uint64_t)(uintptr_t)new_node(1));
  if (nvm_pool_set_root(pool, root) || nvm_tx_commit(pool))
    stop("the root");
#ifdef DIRECT
  nvm_tx_begin(pool); /* the allocations, which nobody commits; the nodes are in the file */
#endif
  run(prefill, 0, &state);
  struct nvm_stats before;
  nvm_pool_stats(pool, &before);
  loads = stores = 0;
  double taken = run(inserts, rate, &state);
  print(taken, (double)inserts, &before);
  if (check(*root, &last) != prefill + inserts) {
    fprintf(stderr, "btree: the tree has lost keys\n");
    return 1;
  }
#ifdef DIRECT
  nvm_tx_commit(pool);
#endif
  return nvm_pool_close(pool) ? (stop("close"), 1) : 0;
}
