// A cache with slabs, a list of free items, a table and an order of use.
//
// load: cache_load
// save: cache_save
// file: cache.txt
// data: a 1
// data: b 2
// command: put c 3
// command: put d 4
// command: get a
// command: put e 5
// command: limit 4
// command: put f 6
// command: put g 7
// ask: dump
// ask: get a
// ask: get c
// ask: dump
/* LRU cache: hash index, lru list, slab allocator with freelist, byte budget */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NB 16
#define SLAB 8
typedef struct item item;
struct item {
  item *hnext, *prev, *next;
  uint32_t hits;
  uint16_t klen, vlen;
  char data[40];
};
struct slab {
  struct slab *next;
  item items[SLAB];
};
typedef struct {
  item *buckets[NB];
  item *mru, *lru;
  unsigned count, limit;
} cache_t;
static cache_t cache;
static struct slab *slabs;
static item *freelist;
static uint64_t evictions;
static bool dirty;
static unsigned h(const char *k) {
  unsigned x = 0;
  for (; *k; k++)
    x = x * 31 + *k;
  return x % NB;
}
static item *item_alloc(void) {
  if (!freelist) {
    struct slab *s = malloc(sizeof(struct slab));
    s->next = slabs;
    slabs = s;
    for (int i = 0; i < SLAB; i++) {
      s->items[i].hnext = freelist;
      freelist = &s->items[i];
    }
  }
  item *it = freelist;
  freelist = it->hnext;
  memset(it, 0, sizeof *it);
  return it;
}
static void item_free(item *it) {
  it->hnext = freelist;
  freelist = it;
}
static void unlink_lru(item *it) {
  if (it->prev)
    it->prev->next = it->next;
  else
    cache.mru = it->next;
  if (it->next)
    it->next->prev = it->prev;
  else
    cache.lru = it->prev;
}
static void push_mru(item *it) {
  it->prev = NULL;
  it->next = cache.mru;
  if (cache.mru)
    cache.mru->prev = it;
  else
    cache.lru = it;
  cache.mru = it;
}
static item *lookup(const char *k) {
  for (item *i = cache.buckets[h(k)]; i; i = i->hnext)
    if (!strcmp(i->data, k))
      return i;
  return NULL;
}
static void unhash(item *it) {
  item **p = &cache.buckets[h(it->data)];
  while (*p != it)
    p = &(*p)->hnext;
  *p = it->hnext;
}
static bool put(const char *k, const char *v) {
  if (strlen(k) + strlen(v) + 2 > sizeof((item *)0)->data)
    return false;
  item *it = lookup(k);
  if (it) {
    unhash(it);
    unlink_lru(it);
    item_free(it);
    cache.count--;
  }
  while (cache.count >= cache.limit) {
    item *o = cache.lru;
    unhash(o);
    unlink_lru(o);
    item_free(o);
    cache.count--;
    evictions++;
  }
  it = item_alloc();
  it->klen = strlen(k);
  it->vlen = strlen(v);
  strcpy(it->data, k);
  strcpy(it->data + it->klen + 1, v);
  it->hnext = cache.buckets[h(k)];
  cache.buckets[h(k)] = it;
  push_mru(it);
  cache.count++;
  dirty = true;
  return true;
}
static bool cache_load(const char *path) {
  FILE *f = fopen(path, "r");
  char k[64], v[64];
  if (!f)
    return false;
  while (fscanf(f, "%63s %63s", k, v) == 2)
    put(k, v);
  fclose(f);
  return true;
}
static void cache_save(const char *path) {
  if (!dirty)
    return;
  FILE *f = fopen(path, "w");
  if (!f)
    return;
  for (item *i = cache.lru; i; i = i->prev)
    fprintf(f, "%s %s\n", i->data, i->data + i->klen + 1);
  fclose(f);
  dirty = false;
}
static void say(const char *s) {
  fputs(s, stdout);
  putchar('\n');
  fflush(stdout);
}
static void handle(char *line) {
  char k[64], v[64], buf[2000];
  if (sscanf(line, "put %63s %63s", k, v) == 2)
    say(put(k, v) ? "stored" : "too big");
  else if (sscanf(line, "get %63s", k) == 1) {
    item *i = lookup(k);
    if (i) {
      i->hits++;
      unlink_lru(i);
      push_mru(i);
      say(i->data + i->klen + 1);
    } else
      say("miss");
  } else if (sscanf(line, "limit %63s", k) == 1) {
    cache.limit = atoi(k);
    say("limited");
  } else if (!strncmp(line, "dump", 4)) {
    size_t o = 0;
    for (item *i = cache.mru; i; i = i->next)
      o += snprintf(buf + o, sizeof buf - o, "%s=%s/%u ", i->data, i->data + i->klen + 1, i->hits);
    snprintf(buf + o, sizeof buf - o, "n=%u ev=%lu lim=%u", cache.count, (unsigned long)evictions,
             cache.limit);
    say(buf);
  } else
    say("bad");
}
int main(int argc, char **argv) {
  cache.limit = argc > 1 ? atoi(argv[1]) : 10;
  if (!cache_load("cache.txt"))
    fputs("no cache file\n", stderr);
  char line[256];
  while (fgets(line, sizeof line, stdin))
    handle(line);
  cache_save("cache.txt");
  return 0;
}
