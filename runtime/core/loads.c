/* loads.c: a load of persistent memory that compiled code announces (--nvmove-loads): it waits as in the
 * memory that is emulated (emulation/media.h).
 */
#include "core/loads.h"
#include "core/map.h"
#include "core/watch.h"

#include "emulation/charge.h"
#include "emulation/spend.h"

#include "nvmove/abi.h"

/* By the address that the program sees. */
uint64_t nvmi_media_line(const void *address) {
  const struct nvm_pool *pool = nvmi_pool_at(address);
  for (unsigned i = 0; i < NVMI_POOLS_MAX && !pool; i++) {
    pool = nvmi_pool_number(i);
    uint64_t offset = pool ? (uint64_t)((const char *)address - pool->home) : UINT64_MAX;
    if (pool && offset < pool->header.range)
      return (uintptr_t)(pool->work + offset) >> NVMI_LINE_SHIFT;
    pool = NULL;
  }
  return (uintptr_t)address >> NVMI_LINE_SHIFT;
}

__attribute__((preserve_most)) void __nvm_load(const void *Address, size_t Size) {
  if (NVMI_UNLIKELY(nvmi_watched))
    nvmi_watch_load(Size);
  if (NVMI_LIKELY(!atomic_load_explicit(&nvmi_charges, memory_order_relaxed)))
    return;
  uint64_t start = nvmi_clock_now();
  const struct nvm_pool *pool = nvmi_pool_at(Address);
  if (!pool || !Size || pool->header.domain != NVM_DOMAIN_POWER)
    return;
  uint64_t offset = (uint64_t)((const char *)Address - pool->work);
  uint64_t end = nvmi_file_size(&pool->header), left = offset < end ? end - offset : 0;
  nvmi_charge_load(nvmi_charged_self(), start, nvmi_media_line(Address),
                   nvmi_lines_at(Address, Size < left ? Size : left));
}
