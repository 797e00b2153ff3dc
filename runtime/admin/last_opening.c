/* last_opening.c: see include/nvmove/inspect.h. The header of the file has what the last opening chose;
 * a tool's copy of the pool has what the tool's own opening chose. */
#include "pool/choice.h"
#include "pool/pool.h"

#include "nvmove/inspect.h"

int nvm_pool_last_opening(const char *path, struct nvm_last_opening *last) {
  if (!last)
    return nvmi_fail(NVM_EARGUMENT, path, "no place for what the last opening chose was given");
  struct nvm_pool *pool = nvmi_pool_attach(path, false);
  if (!pool)
    return -1;
  *last = (struct nvm_last_opening){
      .method = nvmi_method_of(pool->header.method)->name,
      .domain = (enum nvm_domain)pool->header.domain,
      .is_delayed = pool->header.log_format == NVM_LOG_FORMAT_DELAYED,
  };
  nvmi_pool_detach(pool);
  return 0;
}
