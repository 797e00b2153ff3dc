/* modules.c: the program and its libraries, and where their code and data lie. See observe.h.
 *
 * They are listed before the lock is taken: who loads a library holds the dynamic linker's lock and
 * allocates.
 */
#define _GNU_SOURCE
#include "observe/modules.h"

#include "observe/observe.h"

#include <link.h>
#include <string.h>

static struct nvmi_observe_part parts[NVMI_OBSERVE_PARTS_MAX];
static size_t count;

/* The C library's data are the allocator's: its lists lead to free memory and to blocks beside it. */
static bool is_c_library(const char *name) {
  const char *file = strrchr(name, '/');
  return file && (strncmp(file, "/libc.so", 8) == 0 || strncmp(file, "/ld-linux", 9) == 0);
}

static int take(struct dl_phdr_info *module, size_t size, void *unused) {
  (void)size, (void)unused;
  for (unsigned i = 0; i < module->dlpi_phnum && count < NVMI_OBSERVE_PARTS_MAX; i++) {
    const ElfW(Phdr) *part = &module->dlpi_phdr[i];
    uintptr_t start = module->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_LOAD)
      parts[count++] = (struct nvmi_observe_part){
          module->dlpi_name, module->dlpi_addr, start, start + part->p_memsz,
          (part->p_flags & PF_W) && !is_c_library(module->dlpi_name)};
  }
  return 0;
}

void nvmi_observe_list_parts(void) {
  count = 0;
  dl_iterate_phdr(take, NULL);
}

const struct nvmi_observe_part *nvmi_observe_parts(size_t *found) {
  *found = count;
  return parts;
}
