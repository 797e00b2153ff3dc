/* watch.c: see watch.h. */
#include "core/watch.h"

#include "core/log_state.h"
#include "core/map.h"
#include "core/method.h"

#include <stdatomic.h>
#include <stddef.h>

enum { PROBES = 256 };

static struct nvm_watched watched;
static struct nvm_watch_base bases[NVMI_POOLS_MAX];
_Thread_local const void *nvmi_watched_place __attribute__((tls_model("initial-exec")));

/* For tools, which look for its first bytes. */
__attribute__((used, retain)) static const struct nvm_watch watch = {
    .magic = NVM_WATCH_MAGIC,
    .size = sizeof watch,
    .stats_size = sizeof(struct nvm_stats),
    .pools = nvmi_pools,
    .pool_count = NVMI_POOLS_MAX,
    .base_size = sizeof(struct nvm_watch_base),
    .watches = (uint8_t *)&nvmi_slow.watched,
    .watched = &watched,
    .bases = bases,
    .path = offsetof(struct nvm_pool, path),
    .home = offsetof(struct nvm_pool, home),
    .file = offsetof(struct nvm_pool, file),
    .generation = offsetof(struct nvm_pool, header.generation),
    .domain = offsetof(struct nvm_pool, header.domain),
    .method = offsetof(struct nvm_pool, method),
    .forked = offsetof(struct nvm_pool, forked),
    .log_count = offsetof(struct nvm_pool, log_count),
    .logs = offsetof(struct nvm_pool, logs),
    .method_name = offsetof(struct nvmi_method, name),
    .log_stats = offsetof(struct nvmi_log, stats)};

static void add(uint64_t *count, uint64_t more) {
  __atomic_fetch_add(count, more, __ATOMIC_RELAXED);
}

/* Null: there is no room. A tool that resets leaves places where they are. */
static struct nvm_watched_site *site_of(uint64_t code) {
  uint64_t at = code * UINT64_C(0x9e3779b97f4a7c15) >> 52;
  for (unsigned probe = 0; probe < PROBES; probe++) {
    struct nvm_watched_site *site = &watched.sites[(at + probe) % NVM_WATCH_SITES];
    uint64_t there = 0;
    if (__atomic_compare_exchange_n(&site->code, &there, code, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED) ||
        there == code)
      return site;
  }
  return NULL;
}

void nvmi_watch_store(const void *code, size_t size) {
  const void *place = nvmi_watched_place ? nvmi_watched_place : code;
  struct nvm_watched_site *site = site_of((uintptr_t)place);
  add(&watched.stores, 1);
  add(&watched.stored_bytes, size);
  if (site) {
    add(&site->stores, 1);
    add(&site->bytes, size);
  } else {
    add(&watched.without_site, 1);
  }
}

void nvmi_watch_load(size_t size) {
  add(&watched.loads, 1);
  add(&watched.loaded_bytes, size);
}

void nvmi_watch_begin(uint64_t depth) {
  add(depth ? &watched.nested : &watched.begins, 1);
  uint64_t deepest = __atomic_load_n(&watched.deepest, __ATOMIC_RELAXED);
  while (deepest <= depth &&
         !__atomic_compare_exchange_n(&watched.deepest, &deepest, depth + 1, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    continue;
}
