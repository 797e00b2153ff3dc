/* pmdk.c: one of PMDK's own example maps (-DMAP_OPS=HASHMAP_RP_OPS ...), each value an object. */
#include "kv.h"

#include <hashmap.h>
#include <libpmemobj.h>
#include <map.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include MAP_HEADER

static PMEMobjpool *pool;
static struct map_ctx *context;
static TOID(struct map) made;

void kv_make(const char *path, uint64_t count, size_t pool_bytes) {
  int prefault = 1;
  pmemobj_ctl_set(NULL, "prefault.at_create", &prefault);
  pool = pmemobj_create(path, "bench", pool_bytes, 0600);
  if (!pool || !(context = map_ctx_init(MAP_OPS, pool))) {
    fprintf(stderr, "%s\n", pmemobj_errormsg());
    exit(1);
  }
  PMEMoid root = pmemobj_root(pool, sizeof made);
  TOID(struct map) *at = pmemobj_direct(root);
  struct hashmap_args arguments = {.seed = 1};
  if (map_create(context, at, &arguments))
    exit(1);
  made = *at;
  if (context->ops->cmd)
    map_cmd(context, made, HASHMAP_CMD_REBUILD, 2 * count);
}

void kv_insert(uint64_t key, const void *value) {
  TX_BEGIN(pool) {
    PMEMoid object = pmemobj_tx_alloc(VALUE_BYTES, 1);
    memcpy(pmemobj_direct(object), value, VALUE_BYTES);
    map_insert(context, made, key, object);
  }
  TX_END
}

void kv_update(uint64_t key, const void *value) {
  TX_BEGIN(pool) {
    PMEMoid object = map_get(context, made, key);
    pmemobj_tx_add_range(object, 0, VALUE_BYTES);
    memcpy(pmemobj_direct(object), value, VALUE_BYTES);
  }
  TX_END
}

int kv_read(uint64_t key, void *value) {
  PMEMoid object = map_get(context, made, key);
  if (OID_IS_NULL(object))
    return 0;
  memcpy(value, pmemobj_direct(object), VALUE_BYTES);
  return 1;
}
