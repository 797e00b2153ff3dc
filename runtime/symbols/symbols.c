/* symbols.c: see symbols.h. */
#define _GNU_SOURCE
#include "symbols/symbols.h"

#include "symbols/aliases.h"
#include "symbols/builds.h"
#include "symbols/exported.h"
#include "symbols/modules.h"
#include "symbols/symbol_names.h"
#include "symbols/texts.h"

#include <string.h>

static bool is_constant(const struct nvmi_module *module, const struct nvmi_part *part,
                        uint64_t offset) {
  return !part->writable || offset - module->relro < module->relro_end - module->relro;
}

/* Of the local symbols behind this one. "": link-time optimisation made local what the whole
 * program could see, and says itself where the others came from (symbol_names.h). */
static const char *file_of(const struct nvmi_module *module, size_t i) {
  for (size_t at = i + 1; at < module->symbol_count; at++) {
    const Elf64_Sym *symbol = &module->symbols[at];
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FILE || ELF64_ST_BIND(symbol->st_info) != STB_LOCAL)
      break;
    if (nvmi_symbol_is_mark(nvmi_module_name_of(module, symbol)))
      return "";
  }
  return nvmi_module_name_of(module, &module->symbols[i]);
}

__attribute__((weak)) void __asan_init(void);

/* AddressSanitizer makes room behind each variable, which counts as its own: 0, not known. */
static uint64_t size_of(const Elf64_Sym *symbol) { return __asan_init ? 0 : symbol->st_size; }

/* A name that the whole program sees is better than one of several for the same place. */
static void find_symbol(const struct nvmi_module *module, struct nvmi_place *place) {
  const char *file = "";
  bool is_local = true;
  for (size_t i = 0; i < module->symbol_count; i++) {
    const Elf64_Sym *symbol = &module->symbols[i];
    bool local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FILE)
      file = file_of(module, i);
    if (!nvmi_module_is_named(symbol) || place->offset - symbol->st_value >= symbol->st_size ||
        (*place->name && !is_local) || nvmi_symbol_is_number(nvmi_module_name_of(module, symbol)))
      continue;
    place->name = nvmi_module_name_of(module, symbol);
    place->file = local ? file : "";
    place->within = place->offset - symbol->st_value;
    place->size = size_of(symbol);
    is_local = local;
  }
}

static enum nvmi_found find_named(const struct nvmi_module *module, const struct nvmi_place *place,
                                  uint64_t *address) {
  const struct nvmi_symbol_name wanted = nvmi_symbol_name(place->name, place->file);
  const char *file = "";
  unsigned found = 0;
  uint64_t first = 0, size = 0;
  for (size_t i = 0; i < module->symbol_count; i++) {
    const Elf64_Sym *symbol = &module->symbols[i];
    bool local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FILE)
      file = file_of(module, i);
    if (!nvmi_module_is_named(symbol) ||
        !nvmi_symbol_is(nvmi_module_name_of(module, symbol), local ? file : "", &wanted) ||
        (place->within && place->within >= symbol->st_size) || (found && symbol->st_value == first))
      continue;
    first = symbol->st_value;
    size = size_of(symbol);
    found++;
  }
  *address = module->base + first + place->within;
  if (!found)
    return NVMI_NOT_FOUND;
  if (found == 1 && place->within && place->size && size && place->size != size)
    return NVMI_RESIZED;
  return found == 1 || nvmi_symbol_is_content(place->name) ? NVMI_FOUND : NVMI_AMBIGUOUS;
}

/* In a program that is not position-independent the address of a library's function is that of a
 * stub of the program, which no other build has. Gives the function itself; null: it is no stub. */
static const void *behind_stub(const struct nvmi_module *program, uint64_t offset) {
  for (size_t i = 0; i < program->symbol_count; i++) {
    const Elf64_Sym *symbol = &program->symbols[i];
    if (symbol->st_shndx != SHN_UNDEF || symbol->st_value != offset || !offset)
      continue;
    const char *name = nvmi_module_name_of(program, symbol);
    return nvmi_exported_find(strndupa(name, strcspn(name, "@")), NULL); /* without its version */
  }
  return NULL;
}

/* Of two functions that have one variant: the one that does all that the other does, which on the
 * next processor may have another; else the shorter name (`sin`, not `sinf64`), which more builds
 * of the library have. */
static bool is_better(const char *name, const char *than) {
  static const char *const strong[] = {"memmove", "__memmove_chk", "memcmp"}; /* memcpy's, bcmp's */
  for (unsigned i = 0; i < sizeof strong / sizeof *strong; i++)
    if (strcmp(name, strong[i]) == 0 || strcmp(than, strong[i]) == 0)
      return strcmp(name, strong[i]) == 0;
  return strlen(name) < strlen(than);
}

/* A library's variant of a function for this processor has no name of its own, or one that the next
 * processor may not run. So it is noted as what the loader picked it for. */
static bool find_picked(const void *address, const struct nvmi_module *of,
                        struct nvmi_place *place) {
  for (unsigned m = 1; m < nvmi_modules_count(); m++) {
    struct nvmi_module *module = nvmi_module_at(m);
    nvmi_module_read(module);
    for (size_t i = 0; i < nvmi_exported_count(module); i++) {
      const char *name = nvmi_exported_name(module, i);
      if (!*name || !nvmi_exported_is_picked(module, i) ||
          (place->is_picked && !is_better(name, place->name)) ||
          nvmi_exported_address(module, i, module == of) != address)
        continue;
      place->is_picked = true;
      place->module = module->name;
      place->offset = module->exported.symbols[i].st_value;
      place->name = name;
      memcpy(place->build_id, nvmi_module_build(module), sizeof place->build_id);
    }
  }
  return place->is_picked;
}

/* Whatever its name: compilers number strings. */
static bool find_string(const struct nvmi_module *module, struct nvmi_place *place) {
  const char *base = (const char *)module->base;
  if (place->offset - module->strings >= module->strings_end - module->strings)
    return false;
  const char *at = base + place->offset,
             *start = nvmi_string_around(at, base + module->strings, base + module->strings_end);
  if (!start)
    return false;
  place->text = at;
  place->within = (uint64_t)(at - start);
  place->is_string = true;
  return true;
}

bool nvmi_place_of(const void *address, struct nvmi_place *place) {
  const struct nvmi_part *part;
  struct nvmi_module *module =
      nvmi_modules_load() ? nvmi_module_of((uint64_t)(uintptr_t)address, &part) : NULL;
  if (!module)
    return false;
  *place = (struct nvmi_place){.module = module->name,
                               .offset = (uint64_t)(uintptr_t)address - module->base,
                               .name = "",
                               .file = ""};
  memcpy(place->build_id, nvmi_module_build(module), sizeof place->build_id);
  nvmi_module_read(module);
  bool is_program = nvmi_module_is_program(module);
  const void *real = is_program ? behind_stub(module, place->offset) : NULL;
  if (real)
    return nvmi_place_of(real, place);
  place->is_constant = is_constant(module, part, place->offset);
  if (!is_program && !part->writable && find_picked(address, module, place))
    return true;
  if (place->is_constant && find_string(module, place))
    return true;
  find_symbol(module, place);
  uint64_t first;
  place->has_namesakes = nvmi_symbol_is_counted(place->name) ||
                         (*place->name && find_named(module, place, &first) == NVMI_AMBIGUOUS);
  if (*place->name && !nvmi_symbol_is_content(place->name))
    nvmi_aliases_find(module, place);
  return true;
}

struct bytes {
  const char *start, *end, *text, *found;
};

static void find_bytes(void *context, const char *path) {
  struct bytes *bytes = context;
  (void)path;
  bytes->found = nvmi_find_bytes(bytes->start, bytes->end, bytes->text, strlen(bytes->text) + 1);
}

static const char *find_bytes_in(const struct nvmi_module *module, uint64_t start, uint64_t end,
                                 const char *text) {
  const char *base = (const char *)module->base;
  struct bytes bytes = {base + start, base + end, text, NULL};
  if (start < end)
    nvmi_module_while_loaded(module, find_bytes, &bytes);
  return bytes.found;
}

/* Any constant of these bytes will do. */
static enum nvmi_found find_text(const char *text, uint64_t *address) {
  for (unsigned i = 0; i < nvmi_modules_count(); i++)
    for (unsigned p = 0; p < nvmi_module_at(i)->part_count; p++) {
      const struct nvmi_module *module = nvmi_module_at(i);
      const struct nvmi_part *part = &module->parts[p];
      const char *found =
          part->writable ? NULL : find_bytes_in(module, part->start, part->end, text);
      if (!found)
        continue;
      *address = (uint64_t)(uintptr_t)found;
      return NVMI_FOUND;
    }
  return NVMI_NOT_FOUND;
}

/* The whole string, so that pointers to parts of it stay together. Where linkers made the string
 * the end of another one, that may have gone: then the rest of it from the place on, as a string. */
static enum nvmi_found find_string_again(const struct nvmi_place *place, uint64_t *address) {
  const char *parts[] = {place->text - place->within, place->text};
  for (unsigned p = 0; p < sizeof parts / sizeof *parts; p++)
    for (unsigned i = 0; i < nvmi_modules_count(); i++) {
      struct nvmi_module *module = nvmi_module_at(i);
      nvmi_module_read(module);
      const char *found = find_bytes_in(module, module->strings, module->strings_end, parts[p]);
      if (!found)
        continue;
      *address = (uint64_t)(uintptr_t)found + (uint64_t)(place->text - parts[p]);
      return NVMI_FOUND;
    }
  return find_text(place->text, address);
}

/* By its name, which several may have, and its build, which makes it the one that was noted. */
static enum nvmi_found find_module(const struct nvmi_place *place, struct nvmi_module **found,
                                   bool *is_build) {
  unsigned named = 0, built = 0, last = *place->module ? nvmi_modules_count() : 1;
  for (unsigned i = *place->module != 0; i < last; i++) {
    struct nvmi_module *module = nvmi_module_at(i);
    if (*place->module && strcmp(module->name, place->module) != 0)
      continue;
    bool same = nvmi_build_is(place->build_id, nvmi_module_build(module));
    if (same || !built)
      *found = module;
    built += same;
    named++;
  }
  *is_build = built;
  return built > 1             ? NVMI_COPIES
         : !built && named > 1 ? NVMI_NAMESAKES
         : named               ? NVMI_FOUND
                               : NVMI_NOT_FOUND;
}

enum nvmi_found nvmi_place_find(const struct nvmi_place *place, uint64_t *address) {
  if (!nvmi_modules_load())
    return NVMI_NOT_FOUND;
  if (place->is_picked) {
    const void *picked = nvmi_exported_stub(place->name);
    picked = picked ? picked : nvmi_exported_find(place->name, place->module);
    *address = (uint64_t)(uintptr_t)(picked ? picked : nvmi_exported_find(place->name, NULL));
    return *address ? NVMI_FOUND : NVMI_NOT_FOUND;
  }
  struct nvmi_module *module = NULL;
  bool is_build;
  enum nvmi_found found = find_module(place, &module, &is_build);
  if (found == NVMI_FOUND && is_build) {
    *address = module->base + place->offset;
    return NVMI_FOUND;
  }
  if (place->text)
    return place->is_string ? find_string_again(place, address) : find_text(place->text, address);
  if (found != NVMI_FOUND)
    return found;
  if (!*place->name)
    return NVMI_NOT_FOUND;
  if (place->has_namesakes || nvmi_symbol_is_counted(place->name))
    return NVMI_AMBIGUOUS;
  nvmi_module_read(module);
  found = find_named(module, place, address);
  return found == NVMI_FOUND &&
                 !nvmi_aliases_lie_at(module, place, *address - module->base - place->within)
             ? NVMI_AMBIGUOUS
             : found;
}

bool nvmi_build_at(uint64_t address, uint8_t build_id[NVMI_BUILD_ID]) {
  const struct nvmi_part *part;
  struct nvmi_module *module = nvmi_modules_load() ? nvmi_module_of(address, &part) : NULL;
  if (module)
    memcpy(build_id, nvmi_module_build(module), NVMI_BUILD_ID);
  return module;
}

/* Either what looking for it finds, or what looking at the address finds: a function may have
 * several names. */
bool nvmi_place_is_at(const struct nvmi_place *place, uint64_t address,
                      const uint8_t build_id[NVMI_BUILD_ID]) {
  uint8_t build_now[NVMI_BUILD_ID];
  uint64_t found;
  struct nvmi_place now;
  if (!nvmi_build_at(address, build_now) || memcmp(build_now, build_id, NVMI_BUILD_ID) != 0)
    return false;
  if (nvmi_place_find(place, &found) == NVMI_FOUND && found == address)
    return true;
  if (!nvmi_place_of((const void *)(uintptr_t)address, &now))
    return false;
  if (place->text && now.text) /* wherever it was found */
    return nvmi_text_is(now.text, place->text);
  if (strcmp(now.module, place->module) != 0)
    return false;
  if (*place->name || *now.name)
    return strcmp(now.name, place->name) == 0 && strcmp(now.file, place->file) == 0 &&
           now.within == place->within;
  return now.offset == place->offset && nvmi_build_is(place->build_id, now.build_id);
}
