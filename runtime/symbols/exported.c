/* exported.c: see exported.h. */
#include "symbols/exported.h"
#include "symbols/modules.h"

#include <string.h>
#include <sys/auxv.h>

enum { VERSION_HIDDEN = 0x8000 }; /* not what a linker binds to today */

const char *nvmi_exported_name(const struct nvmi_module *module, size_t index) {
  const struct nvmi_exported *exported = &module->exported;
  const Elf64_Sym *symbol = &exported->symbols[index];
  bool is_hidden = exported->versions && exported->versions[index] & VERSION_HIDDEN;
  bool is_there = symbol->st_shndx != SHN_UNDEF && symbol->st_name < exported->names_size &&
                  ELF64_ST_BIND(symbol->st_info) != STB_LOCAL;
  return is_there && !is_hidden ? exported->names + symbol->st_name : "";
}

bool nvmi_exported_is_picked(const struct nvmi_module *module, size_t index) {
  return ELF64_ST_TYPE(module->exported.symbols[index].st_info) == STT_GNU_IFUNC;
}

struct pick {
  uint64_t resolver;
  const void *picked;
};

/* As the loader calls it. */
static void pick(void *context, const char *path) {
  struct pick *pick = context;
  (void)path;
  const void *(*resolve)(uint64_t) = (__typeof__(resolve))(uintptr_t)pick->resolver;
  pick->picked = resolve(getauxval(AT_HWCAP));
}

const void *nvmi_exported_address(const struct nvmi_module *module, size_t index, bool is_known) {
  uint64_t at = module->base + module->exported.symbols[index].st_value;
  if (!nvmi_exported_is_picked(module, index))
    return (const void *)(uintptr_t)at;
  if (!nvmi_module_was_at_start(module) && !is_known)
    return NULL;
  struct pick picked = {at, NULL};
  nvmi_module_while_loaded(module, pick, &picked);
  return picked.picked;
}

static const void *find_in(struct nvmi_module *module, const char *name, bool is_known) {
  nvmi_module_read(module);
  for (size_t i = 0; i < nvmi_exported_count(module); i++) {
    unsigned type = ELF64_ST_TYPE(module->exported.symbols[i].st_info);
    if ((type == STT_FUNC || type == STT_OBJECT || type == STT_GNU_IFUNC) &&
        strcmp(nvmi_exported_name(module, i), name) == 0)
      return nvmi_exported_address(module, i, is_known);
  }
  return NULL;
}

const void *nvmi_exported_stub(const char *name) {
  struct nvmi_module *program = nvmi_module_at(0);
  nvmi_module_read(program);
  const struct nvmi_exported *exported = &program->exported;
  for (size_t i = 0; i < exported->count; i++) {
    const Elf64_Sym *symbol = &exported->symbols[i];
    if (symbol->st_shndx == SHN_UNDEF && symbol->st_value &&
        symbol->st_name < exported->names_size &&
        strcmp(exported->names + symbol->st_name, name) == 0)
      return (const void *)(uintptr_t)(program->base + symbol->st_value);
  }
  return NULL;
}

const void *nvmi_exported_find(const char *name, const char *in) {
  const void *found = NULL;
  for (unsigned m = 1; m < nvmi_modules_count() && !found && *name; m++) {
    struct nvmi_module *module = nvmi_module_at(m);
    if (!in || strcmp(module->name, in) == 0)
      found = find_in(module, name, in != NULL);
  }
  return found;
}
