/* aliases.c: see aliases.h. Names as the source has them (symbol_names.h), whatever the file. */
#include "symbols/aliases.h"
#include "symbols/modules.h"

#include "symbols/symbol_names.h"

#include <string.h>

enum { ALIASES_MAX = 2048 }; /* bytes */

/* Holder of the lock of all places (symbols.h). */
static char aliases[ALIASES_MAX];

static bool is_same(const char *a, const char *b, size_t length) {
  struct nvmi_symbol_name one = nvmi_symbol_name(a, "");
  return one.length == length && memcmp(one.name, b, length) == 0;
}

static bool is_alias(const struct nvmi_module *module, const Elf64_Sym *symbol) {
  const char *name = nvmi_module_name_of(module, symbol);
  return nvmi_module_is_named(symbol) && *name && !nvmi_symbol_is_number(name) &&
         !nvmi_symbol_is_content(name);
}

static bool is_listed(const char *name, size_t length) {
  for (const char *at = aliases; *at == '\n'; at += 1 + strcspn(at + 1, "\n"))
    if (strcspn(at + 1, "\n") == length && memcmp(at + 1, name, length) == 0)
      return true;
  return false;
}

void nvmi_aliases_find(const struct nvmi_module *module, struct nvmi_place *place) {
  size_t used = 0;
  struct nvmi_symbol_name own = nvmi_symbol_name(place->name, "");
  *aliases = 0;
  for (size_t i = 0; i < module->symbol_count; i++) {
    const Elf64_Sym *symbol = &module->symbols[i];
    if (symbol->st_value != place->offset - place->within || !is_alias(module, symbol))
      continue;
    struct nvmi_symbol_name name = nvmi_symbol_name(nvmi_module_name_of(module, symbol), "");
    if (is_same(own.name, name.name, name.length) || is_listed(name.name, name.length))
      continue;
    if (name.length + 2 > ALIASES_MAX - used) {
      place->has_namesakes = true;
      return;
    }
    aliases[used++] = '\n';
    memcpy(aliases + used, name.name, name.length);
    aliases[used += name.length] = 0;
  }
  place->aliases = used ? aliases : NULL;
}

static bool lies_at(const struct nvmi_module *module, const char *name, size_t length,
                    uint64_t offset) {
  for (size_t i = 0; i < module->symbol_count; i++) {
    const Elf64_Sym *symbol = &module->symbols[i];
    if (symbol->st_value == offset && is_alias(module, symbol) &&
        is_same(nvmi_module_name_of(module, symbol), name, length))
      return true;
  }
  return false;
}

bool nvmi_aliases_lie_at(const struct nvmi_module *module, const struct nvmi_place *place,
                         uint64_t offset) {
  for (const char *at = place->aliases; at && *at == '\n'; at += 1 + strcspn(at + 1, "\n"))
    if (!lies_at(module, at + 1, strcspn(at + 1, "\n"), offset))
      return false;
  return true;
}
