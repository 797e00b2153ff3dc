/* root.c: see root.h. */
#include "pool/root.h"

#include "core/map.h"
#include "format/address.h"
#include "tx/wrap.h"

#include "nvmove/wrap.h"

#include <string.h>

static struct nvm_root_words *root_in(char *view) { return (void *)(view + NVM_ROOT_OFFSET); }

uint64_t nvmi_root_twin(const struct nvm_header *header, uint64_t offset) {
  uint64_t id;
  memcpy(&id, header->id, sizeof id);
  return offset ^ id;
}

uint64_t nvmi_root_told(const struct nvm_pool *pool) {
  return nvmi_root_twin(&pool->header, root_in(pool->home)->twin);
}

bool nvmi_root_is_sound(const struct nvm_pool *pool) {
  uint64_t offset = 0, address = root_in(pool->home)->address;
  return (!address || nvmi_pointer_offset(&pool->header, address, &offset)) &&
         offset == nvmi_root_told(pool);
}

int nvmi_root_check(const struct nvm_pool *pool) {
  if (nvmi_root_is_sound(pool))
    return 0;
  return nvmi_fail(NVM_ECORRUPT, pool->path,
                   "the root is damaged: its two copies differ; " NVMI_REPAIR_HINT);
}

void nvmi_root_make(struct nvm_pool *pool) {
  struct nvm_root_words none = {.twin = nvmi_root_twin(&pool->header, 0)};
  *root_in(pool->home) = none;
  pool->persist->flush(root_in(pool->home), sizeof none);
  *root_in(pool->work) = none; /* which may be a private copy */
}

int nvm_pool_set_root(NVM_POOL *pool, void *root) {
  if (!pool)
    return nvmi_fail_no_pool();
  if (root && nvmi_pool_at(root) != pool)
    return nvmi_fail(NVM_EUNSAFE, pool->path,
                     "the root %p does not lie in the pool; allocate it with nvm_alloc", root);
  struct nvm_root_words *place = root_in(pool->work);
  uint64_t offset = root ? (uint64_t)((char *)root - pool->work) : 0;
  struct nvm_root_words words = {(uint64_t)(uintptr_t)root, nvmi_root_twin(&pool->header, offset)};
  nvmi_write(place, &words, sizeof words);
  return 0;
}

void *nvm_pool_root(NVM_POOL *pool) {
  return pool ? (void *)(uintptr_t)nvm_wrap_load64(&root_in(pool->work)->address) : NULL;
}
