/* forgotten.c: NVMOVE_DEBUG=roots: variables of a ported program that a restart needs and that are
 * no roots.
 *
 * Looked at are all words that the program can write, its own and those of libraries that have
 * roots. At each end of a transaction of the thread that loaded: an address in the pool that no
 * root covers is told once, with the name of its variable. A restart loses it. It may be right:
 * where the program looks for its object anew. At the end of the load: a variable that has changed
 * since its begin. A restart does not load, so there the variable has its first value. What
 * lies in DRAM of malloc is not found. For tests: it reads and copies all of .data and .bss.
 */
#define _GNU_SOURCE
#include "port/forgotten.h"

#include "base/basics.h"
#include "base/settings.h"
#include "port/port.h"
#include "port/roots.h"
#include "symbols/statics.h"

#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names of libnvmove's source files, each behind a space. */
#ifndef NVMI_SOURCES
#define NVMI_SOURCES ""
#endif

enum { NAME = 256, TOLD_MAX = 64 };

typedef void look_at_words(void *context, const char *start, const char *end);

/* Words that the program can write. */
struct words {
  const char *start, *end;
};
struct look {
  struct nvmi_array found; /* struct words */
  unsigned modules;
};

/* What words held. */
struct copy {
  const char *start, *end;
  char *held;
};
static struct nvmi_array copies; /* from the begin of the load to its end */

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

/* False: told before, or the library's own. */
static bool is_to_tell(const char *at, char *name, size_t size) {
  return nvmi_static_name(at, name, size) && !strstr(name, "nvm_") && !strstr(name, "nvmi_") &&
         is_news(name);
}

static bool is_in(const struct nvm_pool *pool, uint64_t value) {
  return value - (uint64_t)(uintptr_t)pool->work < pool->header.range;
}

/* Other threads may be storing there. */
__attribute__((no_sanitize("thread", "address"))) static void
look_for_addresses(void *context, const char *start, const char *end) {
  const struct nvm_pool *pool = context;
  char name[NAME];
  for (const char *at = start; at + sizeof(uint64_t) <= end; at += sizeof(uint64_t))
    if (is_in(pool, *(const volatile uint64_t *)at) && !is_of_root(at) &&
        is_to_tell(at, name, sizeof name))
      nvmi_tell("nvmove: %s: variable %s leads into the pool and is no root: a restart loses that; "
                "name it in 'roots' of the port file, or let each start set it anew\n",
                pool->path, name);
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
    struct words words = {first, start + p->p_memsz};
    if (p->p_type == PT_LOAD && p->p_flags & PF_W)
      nvmi_array_push(&look->found, &words, sizeof words);
  }
  return 0;
}

static void look(look_at_words *at, void *context) {
  struct look all = {0};
  nvmi_each_module(look_at_module, &all);
  const struct words *words = all.found.items;
  for (size_t i = 0; i < all.found.count; i++)
    at(context, words[i].start, words[i].end);
  nvmi_array_free(&all.found, sizeof *words);
}

void nvmi_forgotten_look(struct nvm_pool *pool) { look(look_for_addresses, pool); }

__attribute__((no_sanitize("thread", "address"))) static void
keep_copy(void *unused, const char *start, const char *end) {
  struct copy copy = {start, end, malloc((size_t)(end - start))};
  (void)unused;
  if (!copy.held)
    return;
  for (size_t i = 0; i < (size_t)(end - start); i++)
    copy.held[i] = ((const volatile char *)start)[i];
  if (!nvmi_array_push(&copies, &copy, sizeof copy))
    free(copy.held);
}

void nvmi_forgotten_load_begins(void) {
  if (nvmi_setting_is("NVMOVE_DEBUG", "roots"))
    look(keep_copy, NULL);
}

/* The first byte of the word that has changed; null: none has, or that is no news. */
__attribute__((no_sanitize("thread", "address"))) static const char *
changed(const struct nvm_pool *pool, const struct copy *copy, size_t word) {
  const char *at = copy->start + word, *held = copy->held + word;
  uint64_t now = *(const volatile uint64_t *)at;
  if (memcmp(&now, held, sizeof now) == 0 || is_in(pool, now))
    return NULL;
  for (; *(const volatile char *)at == *held; held++)
    at++;
  return is_of_root(at) ? NULL : at;
}

/* Of a variable that nvmi_static_name calls "'name' of file.c". */
static bool is_own(const char *name) {
  char file[NAME] = " ";
  const char *of = strstr(name, "' of ");
  snprintf(file, sizeof file, " %s ", of ? of + 5 : "");
  return of && strstr(NVMI_SOURCES " ", file);
}

static void tell_changed(const struct nvm_pool *pool, const struct copy *copy) {
  char name[NAME];
  for (size_t i = 0; i + sizeof(uint64_t) <= (size_t)(copy->end - copy->start); i += 8) {
    const char *at = changed(pool, copy, i);
    if (at && is_to_tell(at, name, sizeof name) && !is_own(name))
      nvmi_tell(
          "nvmove: %s: variable %s was changed by the load and is no root: a restart does not "
          "load, so there it has its first value; name it in 'roots' of the port file if that "
          "is wrong\n",
          pool->path, name);
  }
}

void nvmi_forgotten_load_ends(const struct nvm_pool *pool) {
  for (size_t i = 0; i < copies.count; i++) {
    struct copy *copy = (struct copy *)copies.items + i;
    tell_changed(pool, copy);
    free(copy->held);
  }
  nvmi_array_free(&copies, sizeof(struct copy));
}
