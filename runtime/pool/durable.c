/* durable.c: see durable.h. */
#include "pool/durable.h"

#include "base/settings.h"
#include "core/map.h"
#include "methods/methods.h"
#include "platform/delayed.h"
#include "platform/disk.h"
#include "platform/late_sync.h"

#include <string.h>

static uint32_t wished(void) {
  const char *wish = nvmi_setting("NVMOVE_DURABLE");
  if (!wish || strcmp(wish, "always") == 0)
    return 0;
  return strcmp(wish, "never") == 0 ? NVM_SYNC_NEVER
                                    : (uint32_t)nvmi_setting_number("NVMOVE_DURABLE");
}

/* A traced run, and a disk that is simulated, are of one order of stores, in which a commit waits. */
int nvmi_delay_choose(struct nvm_pool *pool) {
  pool->header.log_format = NVM_LOG_FORMAT;
  pool->sync_ms = 0;
  if (pool->header.domain != NVM_DOMAIN_DISK || !wished() || nvmi_setting("NVMOVE_TRACE") ||
      nvmi_persist_override)
    return 0;
  if (pool->method != &nvmi_shadow)
    return nvmi_fail(
        NVM_EARGUMENT, pool->path,
        "NVMOVE_DURABLE=%s needs the method shadow, and %s; set NVMOVE_METHOD=shadow, or "
        "NVMOVE_DURABLE=always",
        nvmi_setting("NVMOVE_DURABLE"),
        nvmi_setting("NVMOVE_METHOD") ? "NVMOVE_METHOD names another one"
                                      : "the pool is large for this machine's DRAM");
  pool->sync_ms = wished();
  pool->header.log_format = NVM_LOG_FORMAT_DELAYED;
  return 0;
}

static unsigned period(const struct nvm_pool *pool) {
  return pool->sync_ms == NVM_SYNC_NEVER ? 0 : pool->sync_ms;
}

int nvmi_delay_start(struct nvm_pool *pool) {
  if (!pool->sync_ms)
    return 0;
  if (nvmi_map_delayed(pool))
    return -1;
  if (nvmi_delayed_start(pool->index, pool->home, pool->file, pool->header.range, period(pool)))
    return nvmi_disk_fail(pool->path, "no thread can be started that syncs it");
  pool->persist = nvmi_persist_delayed();
  return 0;
}

void nvmi_delay_go_on(struct nvm_pool *pool) {
  if (nvmi_late_sync_start(pool->index, period(pool)))
    nvmi_fatal(NVM_ESYSTEM, pool->path, "no thread can be started that syncs it");
  nvmi_late_sync_ask(pool->index); /* what was committed before */
}

int nvm_pool_sync(NVM_POOL *pool) {
  if (!pool)
    return nvmi_fail_no_pool();
  if (!nvmi_pool_is_open(pool))
    return nvmi_fail(NVM_EARGUMENT, NULL, "%p is no open pool; was it closed already?", pool);
  if (pool->forked)
    return nvmi_fail(NVM_ECHILD, pool->path,
                     "a forked child cannot bring its parent's pool to the disk");
  if (pool->file)
    nvmi_sync_records(pool->index);
  return 0;
}
