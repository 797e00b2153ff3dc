/* raw_libpmem.c: libpmem and libpmem2, in front of the libraries themselves (raw.h): what they store
 * and flush is done here, as on persistent memory, and told.
 *
 * The functions are weak, so that a program which is linked with the libraries' archives is linked
 * all the same; then they are not seen.
 */
#include "raw/raw.h"

#include "base/uncancelled.h"

#include <string.h>
#include <sys/mman.h>

const char nvmi_raw_libraries = 1; /* raw.c */

#define NVMI_INTERPOSE __attribute__((weak, visibility("default")))

/* Of libpmem.h and libpmem2.h, which agree. */
enum { NODRAIN = 1, NONTEMPORAL = 2, NOFLUSH = 32 };

static void end(void *to, size_t size, unsigned flags) {
  if (flags & NOFLUSH) {
    nvmi_raw_stored(to, size, false);
    return;
  }
  nvmi_raw_stored(to, size, flags & NONTEMPORAL);
  if (!(flags & NONTEMPORAL))
    nvmi_raw_flushed(to, size);
  if (!(flags & NODRAIN))
    nvmi_raw_fenced();
}

NVMI_INTERPOSE void *pmem_memmove(void *to, const void *from, size_t size, unsigned flags) {
  memmove(to, from, size);
  end(to, size, flags);
  return to;
}

NVMI_INTERPOSE void *pmem_memcpy(void *to, const void *from, size_t size, unsigned flags) {
  return pmem_memmove(to, from, size, flags);
}

NVMI_INTERPOSE void *pmem_memset(void *to, int byte, size_t size, unsigned flags) {
  memset(to, byte, size);
  end(to, size, flags);
  return to;
}

NVMI_INTERPOSE void *pmem_memmove_nodrain(void *to, const void *from, size_t size) {
  return pmem_memmove(to, from, size, NODRAIN);
}

NVMI_INTERPOSE void *pmem_memcpy_nodrain(void *to, const void *from, size_t size) {
  return pmem_memmove(to, from, size, NODRAIN);
}

NVMI_INTERPOSE void *pmem_memset_nodrain(void *to, int byte, size_t size) {
  return pmem_memset(to, byte, size, NODRAIN);
}

NVMI_INTERPOSE void *pmem_memmove_persist(void *to, const void *from, size_t size) {
  return pmem_memmove(to, from, size, 0);
}

NVMI_INTERPOSE void *pmem_memcpy_persist(void *to, const void *from, size_t size) {
  return pmem_memmove(to, from, size, 0);
}

NVMI_INTERPOSE void *pmem_memset_persist(void *to, int byte, size_t size) {
  return pmem_memset(to, byte, size, 0);
}

NVMI_INTERPOSE void pmem_flush(const void *at, size_t size) { nvmi_raw_flushed(at, size); }

NVMI_INTERPOSE void pmem_drain(void) { nvmi_raw_fenced(); }

NVMI_INTERPOSE void pmem_persist(const void *at, size_t size) {
  nvmi_raw_flushed(at, size);
  nvmi_raw_fenced();
}

NVMI_INTERPOSE void pmem_deep_flush(const void *at, size_t size) { nvmi_raw_flushed(at, size); }

NVMI_INTERPOSE int pmem_deep_drain(const void *at, size_t size) {
  (void)at, (void)size;
  nvmi_raw_fenced();
  return 0;
}

NVMI_INTERPOSE int pmem_deep_persist(const void *at, size_t size) {
  pmem_persist(at, size);
  return 0;
}

NVMI_INTERPOSE int pmem_msync(const void *at, size_t size) {
  uintptr_t start = (uintptr_t)at & ~(uintptr_t)4095;
  return NVMI_UNCANCELLED(msync((void *)start, (uintptr_t)at + size - start, MS_SYNC));
}

struct pmem2_map;

NVMI_INTERPOSE void (*pmem2_get_persist_fn(struct pmem2_map *map))(const void *, size_t) {
  (void)map;
  return pmem_persist;
}

NVMI_INTERPOSE void (*pmem2_get_flush_fn(struct pmem2_map *map))(const void *, size_t) {
  (void)map;
  return pmem_flush;
}

NVMI_INTERPOSE void (*pmem2_get_drain_fn(struct pmem2_map *map))(void) {
  (void)map;
  return pmem_drain;
}

NVMI_INTERPOSE void *(*pmem2_get_memmove_fn(struct pmem2_map *map))(void *, const void *, size_t,
                                                                    unsigned) {
  (void)map;
  return pmem_memmove;
}

NVMI_INTERPOSE void *(*pmem2_get_memcpy_fn(struct pmem2_map *map))(void *, const void *, size_t,
                                                                   unsigned) {
  (void)map;
  return pmem_memcpy;
}

NVMI_INTERPOSE void *(*pmem2_get_memset_fn(struct pmem2_map *map))(void *, int, size_t, unsigned) {
  (void)map;
  return pmem_memset;
}

NVMI_INTERPOSE int pmem2_deep_flush(struct pmem2_map *map, void *at, size_t size) {
  (void)map;
  return pmem_deep_persist(at, size);
}
