/* forgotten.c: NVMOVE_DEBUG=roots: variables of a ported program that lead into its pool and are no
 * roots.
 *
 * At each end of a transaction of the thread that loaded, all words are looked at that the program
 * can write, its own and those of libraries that have roots: an address in the pool that no root
 * covers is told once, with the name of its variable. A restart loses it. It may be right: where
 * the program looks for its object anew. Numbers that a restart needs are not found so, nor what
 * lies in DRAM of malloc. For tests: it reads all of .data and .bss.
 */
#define _GNU_SOURCE
#include "port.h"
#include "roots.h"
#include "statics.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 256, TOLD_MAX = 64 };

struct look {
  const struct nvm_pool *pool;
  unsigned modules;
};

/* A word of a root, or how the program reaches one that lies in the pool. */
static bool is_of_root(const char *at) {
  FOR_EACH_ROOT(root) {
    if ((uintptr_t)at - (uintptr_t)root->address < root->size || at == (const char *)root->place)
      return true;
  }
  return false;
}

/* The name, without what may stand behind it in a file that was linked anew. */
static bool is_news(const char *name) {
  static char told[TOLD_MAX][NAME];
  static unsigned count;
  for (unsigned i = 0; i < count; i++)
    if (strcmp(told[i], name) == 0)
      return false;
  if (count == TOLD_MAX)
    return false;
  snprintf(told[count++], NAME, "%s", name);
  return true;
}

static void tell(const struct nvm_pool *pool, const char *at) {
  char name[NAME];
  if (!nvmi_static_name(at, name, sizeof name) || strstr(name, "nvm_") || strstr(name, "nvmi_") ||
      !is_news(name))
    return;
  fprintf(stderr,
          "nvmove: %s: variable %s leads into the pool and is no root: a restart loses that; name "
          "it in 'roots' of the port file, or let each start set it anew\n",
          pool->path, name);
}

/* Other threads may be storing there. */
__attribute__((no_sanitize("thread", "address"))) static void
look_at(const struct look *look, const char *start, const char *end) {
  uint64_t base = (uint64_t)(uintptr_t)look->pool->work, size = look->pool->header.span;
  for (const char *at = start; at + sizeof(uint64_t) <= end; at += sizeof(uint64_t)) {
    uint64_t value = *(const volatile uint64_t *)at;
    if (value - base < size && !is_of_root(at))
      tell(look->pool, at);
  }
}

static bool has_root(const struct dl_phdr_info *info) {
  FOR_EACH_ROOT(root) {
    for (int i = 0; i < info->dlpi_phnum; i++) {
      const ElfW(Phdr) *p = &info->dlpi_phdr[i];
      if (p->p_type == PT_LOAD &&
          (uintptr_t)root->address - info->dlpi_addr - p->p_vaddr < p->p_memsz)
        return true;
    }
  }
  return false;
}

static int look_at_module(struct dl_phdr_info *info, size_t size, void *context) {
  struct look *look = context;
  (void)size;
  if (look->modules++ && !has_root(info)) /* the first is the program */
    return 0;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    const char *start = (const char *)(info->dlpi_addr + p->p_vaddr);
    const char *first = (const char *)(((uintptr_t)start + 7) & ~(uintptr_t)7);
    if (p->p_type == PT_LOAD && p->p_flags & PF_W)
      look_at(look, first, start + p->p_memsz);
  }
  return 0;
}

void nvmi_forgotten_look(const struct nvm_pool *pool) {
  struct look look = {pool, 0};
  dl_iterate_phdr(look_at_module, &look);
}
