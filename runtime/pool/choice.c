/* choice.c: which method makes a pool's bytes durable. */
#include "pool/choice.h"

#include "core/loads.h"
#include "core/redirected.h"

#include "base/settings.h"
#include "emulation/media.h"
#include "methods/methods.h"
#include "platform/domain.h"
#include "platform/sync.h"
#include "pool/durable.h"
#include "trace/trace.h"
#include "tx/dram_limit.h"

#include <unistd.h>

static const struct nvmi_method *const methods[] = {&nvmi_undo, &nvmi_shadow, &nvmi_lat,
                                                    &nvmi_latb};
enum { METHODS = sizeof methods / sizeof *methods };

const struct nvmi_method *nvmi_method_of(uint32_t id) {
  for (int i = 0; i < METHODS; i++)
    if (methods[i]->id == id)
      return methods[i];
  return NULL;
}

/* Whether a private copy of the pool may fit into half of the machine's DRAM: shadow needs up to
 * the pool's size, or what NVMOVE_SHADOW_DRAM bounds it to. */
static bool fits_in_dram(const struct nvm_pool *pool) {
  uint64_t dram = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
  uint64_t needed = pool->header.heap_size, bound = nvmi_dram_limit();
  return (bound && bound < needed ? bound : needed) < dram / 2;
}

void nvmi_domain_choose(struct nvm_pool *pool) {
  if (pool->is_copy) /* nothing of it is durable */
    pool->header.domain = NVM_DOMAIN_PROCESS;
  else if (nvmi_trace_is_raw()) /* what it flushes is told, so it has to flush */
    pool->header.domain = NVM_DOMAIN_POWER;
  else
    pool->header.domain = nvmi_domain_of(pool->path, pool->fd);
  if (pool->header.domain == NVM_DOMAIN_POWER)
    pool->persist = nvmi_media(nvmi_persist_power(), nvmi_media_line);
  else
    pool->persist =
        pool->header.domain == NVM_DOMAIN_DISK ? nvmi_persist_disk() : nvmi_persist_process();
  if (pool->header.domain != NVM_DOMAIN_POWER)
    nvmi_media_tell_unused(pool->path);
}

int nvmi_method_choose(struct nvm_pool *pool) {
  bool wanted = nvmi_domain_flushes(pool->header.domain) || &__nvm_port_forks;
  bool shadow = wanted && fits_in_dram(pool);
  pool->method = shadow ? &nvmi_shadow : &nvmi_undo;
  for (int i = 0; i < METHODS; i++)
    if (nvmi_setting_is("NVMOVE_METHOD", methods[i]->name))
      pool->method = methods[i];
  if (nvmi_trace_is_raw() ||
      pool->is_copy) /* one mapping: traced is the file, or nothing durable */
    pool->method = &nvmi_undo;
  pool->header.method = pool->method->id;
  if (pool->method->store && nvmi_is_redirected() && nvmi_plain_source())
    return nvmi_fail(
        NVM_EMETHOD, pool->path,
        "method '%s' needs loads and stores that are calls, and '%s' is compiled without "
        "--nvmove-redirect, which other sources have; compile all with it, or choose "
        "NVMOVE_METHOD=shadow or NVMOVE_METHOD=undo",
        pool->method->name, nvmi_plain_source());
  if (pool->method->store)
    nvmi_redirected_use();
  return nvmi_delay_choose(pool);
}
