/* symbols.c: see symbols.h. Reads the modules' files: symbol tables are not loaded. */
#define _GNU_SOURCE
#include "symbols/symbols.h"
#include "base/own_files.h"
#include "base/uncancelled.h"

#include "symbols/symbol_names.h"
#include "symbols/texts.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODULES_MAX = 256, PARTS_MAX = 12 };

struct part {
  uint64_t start, end; /* as linked */
  bool writable;
};

struct module {
  char name[128];
  uint64_t base; /* added to addresses as linked */
  uint8_t build_id[NVMI_BUILD_ID];
  struct part parts[PARTS_MAX];
  unsigned part_count;
  uint64_t relro, relro_end; /* writable until the loader was done */
  const char *bytes;         /* the file; null: not read, or not readable */
  size_t size;
  bool tried;
  const Elf64_Sym *symbols;
  size_t symbol_count;
  const char *names;
  size_t names_size;
};

static struct module *modules;
static unsigned module_count;

/* Modules that came and went so far. */
struct changes {
  uint64_t loaded, unloaded;
};
static struct changes read_at; /* when `modules` was filled */

static int read_changes(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  *(struct changes *)context = (struct changes){info->dlpi_adds, info->dlpi_subs};
  return 1;
}

static struct changes changes_now(void) {
  struct changes changes = {0};
  nvmi_each_module(read_changes, &changes);
  return changes;
}

uint64_t nvmi_modules_unloaded(void) { return changes_now().unloaded; }

static void read_notes(struct module *module, const char *at, size_t size) {
  const char *end = at + size;
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    const ElfW(Nhdr) *note = (const void *)at;
    const char *name = at + sizeof *note, *data = name + ((note->n_namesz + 3) & ~3u);
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0)
      memcpy(module->build_id, data,
             note->n_descsz < NVMI_BUILD_ID ? note->n_descsz : NVMI_BUILD_ID);
    at = data + ((note->n_descsz + 3) & ~3u);
  }
}

static int add_module(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  if (module_count == MODULES_MAX)
    return 1;
  struct module *module = &modules[module_count];
  *module = (struct module){.base = info->dlpi_addr};
  const char *slash = strrchr(info->dlpi_name, '/');
  const char *name = module_count == 0 ? "" : slash ? slash + 1 : info->dlpi_name;
  strncpy(module->name, name, sizeof module->name - 1);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    if (p->p_type == PT_NOTE)
      read_notes(module, (const char *)info->dlpi_addr + p->p_vaddr, p->p_memsz);
    if (p->p_type == PT_GNU_RELRO)
      module->relro = p->p_vaddr, module->relro_end = p->p_vaddr + p->p_memsz;
    if (p->p_type == PT_LOAD && module->part_count < PARTS_MAX)
      module->parts[module->part_count++] =
          (struct part){p->p_vaddr, p->p_vaddr + p->p_memsz, p->p_flags & PF_W};
  }
  module_count++;
  return 0;
}

/* What is known of the modules that are there now. */
static bool load(void) {
  struct changes changes = changes_now();
  if (module_count && changes.loaded == read_at.loaded && changes.unloaded == read_at.unloaded)
    return true;
  nvmi_symbols_release();
  void *memory = mmap(NULL, MODULES_MAX * sizeof *modules, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  modules = memory;
  read_at = changes;
  nvmi_each_module(add_module, NULL);
  return true;
}

void nvmi_symbols_release(void) {
  for (unsigned i = 0; i < module_count; i++)
    if (modules[i].bytes)
      munmap((void *)modules[i].bytes, modules[i].size);
  if (modules)
    munmap(modules, MODULES_MAX * sizeof *modules);
  modules = NULL;
  module_count = 0;
}

static const struct part *part_of(const struct module *module, uint64_t offset) {
  for (unsigned i = 0; i < module->part_count; i++)
    if (offset - module->parts[i].start < module->parts[i].end - module->parts[i].start)
      return &module->parts[i];
  return NULL;
}

static struct module *module_of(uint64_t address, const struct part **part) {
  for (unsigned i = 0; i < module_count; i++)
    if ((*part = part_of(&modules[i], address - modules[i].base)))
      return &modules[i];
  return NULL;
}

static bool is_constant(const struct module *module, const struct part *part, uint64_t offset) {
  return !part->writable || offset - module->relro < module->relro_end - module->relro;
}

static void map_file(struct module *module, const char *path) {
  int fd = nvmi_open(path, O_RDONLY, 0);
  struct stat status;
  if (fd < 0)
    return;
  void *bytes = fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof(Elf64_Ehdr)
                    ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0)
                    : MAP_FAILED;
  NVMI_UNCANCELLED(close(fd));
  if (bytes == MAP_FAILED)
    return;
  module->bytes = bytes;
  module->size = (size_t)status.st_size;
}

static int find_path(struct dl_phdr_info *info, size_t size, void *context) {
  struct module *module = context;
  (void)size;
  if (info->dlpi_addr != module->base)
    return 0;
  map_file(module, *info->dlpi_name && module != modules ? info->dlpi_name : "/proc/self/exe");
  return 1;
}

/* The full symbol table when the file has one, else that of dynamic symbols. */
static void read_symbols(struct module *module) {
  if (module->tried)
    return;
  module->tried = true;
  nvmi_each_module(find_path, module);
  if (!module->bytes || memcmp(module->bytes, ELFMAG, SELFMAG) != 0)
    return;
  const Elf64_Ehdr *head = (const void *)module->bytes;
  const Elf64_Shdr *sections = (const void *)(module->bytes + head->e_shoff), *best = NULL;
  if (head->e_shoff > module->size ||
      head->e_shnum > (module->size - head->e_shoff) / sizeof *sections)
    return;
  for (unsigned i = 0; i < head->e_shnum; i++)
    if (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !best))
      best = &sections[i];
  if (!best || best->sh_link >= head->e_shnum)
    return;
  const Elf64_Shdr *names = &sections[best->sh_link];
  if (best->sh_offset > module->size || best->sh_size > module->size - best->sh_offset ||
      names->sh_offset > module->size || names->sh_size > module->size - names->sh_offset)
    return;
  module->symbols = (const void *)(module->bytes + best->sh_offset);
  module->symbol_count = best->sh_size / sizeof *module->symbols;
  module->names = module->bytes + names->sh_offset;
  module->names_size = names->sh_size;
}

static const char *name_of(const struct module *module, const Elf64_Sym *symbol) {
  return symbol->st_name < module->names_size ? module->names + symbol->st_name : "";
}

static bool is_named(const Elf64_Sym *symbol) {
  unsigned type = ELF64_ST_TYPE(symbol->st_info);
  return (type == STT_FUNC || type == STT_OBJECT) && symbol->st_shndx != SHN_UNDEF;
}

/* Of the local symbols behind this one. "": link-time optimisation made local what the whole
 * program could see, and says itself where the others came from (symbol_names.h). */
static const char *file_of(const struct module *module, size_t i) {
  for (size_t at = i + 1; at < module->symbol_count; at++) {
    const Elf64_Sym *symbol = &module->symbols[at];
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FILE || ELF64_ST_BIND(symbol->st_info) != STB_LOCAL)
      break;
    if (nvmi_symbol_is_mark(name_of(module, symbol)))
      return "";
  }
  return name_of(module, &module->symbols[i]);
}

/* A name that the whole program sees is better than one of several for the same place. */
static void find_symbol(const struct module *module, struct nvmi_place *place) {
  const char *file = "";
  bool is_local = true;
  for (size_t i = 0; i < module->symbol_count; i++) {
    const Elf64_Sym *symbol = &module->symbols[i];
    bool local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FILE)
      file = file_of(module, i);
    if (!is_named(symbol) || place->offset - symbol->st_value >= symbol->st_size ||
        (*place->name && !is_local))
      continue;
    place->name = name_of(module, symbol);
    place->file = local ? file : "";
    place->within = place->offset - symbol->st_value;
    place->size = symbol->st_size;
    is_local = local;
  }
}

static enum nvmi_found find_named(const struct module *module, const struct nvmi_place *place,
                                  uint64_t *address) {
  const struct nvmi_symbol_name wanted = nvmi_symbol_name(place->name, place->file);
  const char *file = "";
  unsigned found = 0;
  uint64_t first = 0;
  for (size_t i = 0; i < module->symbol_count; i++) {
    const Elf64_Sym *symbol = &module->symbols[i];
    bool local = ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_FILE)
      file = file_of(module, i);
    if (!is_named(symbol) || !nvmi_symbol_is(name_of(module, symbol), local ? file : "", &wanted) ||
        (place->within && place->within >= symbol->st_size) || (found && symbol->st_value == first))
      continue;
    first = symbol->st_value;
    found++;
  }
  *address = module->base + first + place->within;
  return found == 1 ? NVMI_FOUND : found ? NVMI_AMBIGUOUS : NVMI_NOT_FOUND;
}

/* In a program that is not position-independent the address of a library's function is that of a
 * stub of the program, which no other build has. Gives the function itself; null: it is no stub. */
static const void *behind_stub(const struct module *program, uint64_t offset) {
  for (size_t i = 0; i < program->symbol_count; i++) {
    const Elf64_Sym *symbol = &program->symbols[i];
    if (symbol->st_shndx != SHN_UNDEF || symbol->st_value != offset || !offset)
      continue;
    const char *name = name_of(program, symbol);
    return dlsym(RTLD_NEXT, strndupa(name, strcspn(name, "@"))); /* without its version */
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
static bool find_picked(const void *address, struct nvmi_place *place) {
  for (unsigned m = 1; m < module_count; m++) {
    read_symbols(&modules[m]);
    for (size_t i = 0; i < modules[m].symbol_count; i++) {
      const Elf64_Sym *symbol = &modules[m].symbols[i];
      const char *name = name_of(&modules[m], symbol);
      if (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC || symbol->st_shndx == SHN_UNDEF ||
          ELF64_ST_BIND(symbol->st_info) == STB_LOCAL ||
          (place->is_picked && !is_better(name, place->name)) || dlsym(RTLD_NEXT, name) != address)
        continue;
      place->is_picked = true;
      place->module = modules[m].name;
      place->offset = symbol->st_value;
      place->name = name;
      memcpy(place->build_id, modules[m].build_id, sizeof place->build_id);
    }
  }
  return place->is_picked;
}

bool nvmi_place_of(const void *address, struct nvmi_place *place) {
  const struct part *part;
  struct module *module = load() ? module_of((uint64_t)(uintptr_t)address, &part) : NULL;
  if (!module)
    return false;
  *place = (struct nvmi_place){.module = module->name,
                               .offset = (uint64_t)(uintptr_t)address - module->base,
                               .name = "",
                               .file = ""};
  memcpy(place->build_id, module->build_id, sizeof place->build_id);
  read_symbols(module);
  const void *real = module == modules ? behind_stub(module, place->offset) : NULL;
  if (real)
    return nvmi_place_of(real, place);
  place->is_constant = is_constant(module, part, place->offset);
  if (module != modules && !part->writable && find_picked(address, place))
    return true;
  find_symbol(module, place);
  uint64_t first;
  place->has_namesakes = *place->name && find_named(module, place, &first) == NVMI_AMBIGUOUS;
  if (!*place->name && place->is_constant &&
      nvmi_is_text(address, (const char *)module->base + part->end))
    place->text = address;
  return true;
}

/* Any constant of these bytes will do. */
static enum nvmi_found find_text(const char *text, uint64_t *address) {
  size_t size = strlen(text) + 1;
  for (unsigned i = 0; i < module_count; i++)
    for (unsigned p = 0; p < modules[i].part_count; p++) {
      const struct part *part = &modules[i].parts[p];
      const char *start = (const char *)modules[i].base + part->start;
      const char *found =
          part->writable ? NULL
                         : nvmi_find_bytes(start, start + (part->end - part->start), text, size);
      if (!found)
        continue;
      *address = (uint64_t)(uintptr_t)found;
      return NVMI_FOUND;
    }
  return NVMI_NOT_FOUND;
}

enum nvmi_found nvmi_place_find(const struct nvmi_place *place, uint64_t *address) {
  if (!load())
    return NVMI_NOT_FOUND;
  if (place->is_picked) {
    *address = (uint64_t)(uintptr_t)dlsym(RTLD_DEFAULT, place->name);
    return *address ? NVMI_FOUND : NVMI_NOT_FOUND;
  }
  struct module *module = NULL;
  for (unsigned i = 0; i < module_count && !module; i++)
    if (strcmp(modules[i].name, place->module) == 0)
      module = &modules[i];
  static const uint8_t none[NVMI_BUILD_ID];
  if (module && memcmp(module->build_id, place->build_id, NVMI_BUILD_ID) == 0 &&
      memcmp(none, place->build_id, NVMI_BUILD_ID) != 0) {
    *address = module->base + place->offset;
    return NVMI_FOUND;
  }
  if (place->text)
    return find_text(place->text, address);
  if (!module || !*place->name)
    return NVMI_NOT_FOUND;
  if (place->has_namesakes)
    return NVMI_AMBIGUOUS;
  read_symbols(module);
  return find_named(module, place, address);
}

/* Either what looking for it finds, or what looking at the address finds: a function may have
 * several names. */
bool nvmi_place_is_at(const struct nvmi_place *place, uint64_t address) {
  uint64_t found;
  struct nvmi_place now;
  if (nvmi_place_find(place, &found) == NVMI_FOUND && found == address)
    return true;
  if (!nvmi_place_of((const void *)(uintptr_t)address, &now) ||
      strcmp(now.module, place->module) != 0)
    return false;
  if (*place->name || *now.name)
    return strcmp(now.name, place->name) == 0 && strcmp(now.file, place->file) == 0 &&
           now.within == place->within;
  return place->text && now.text ? strcmp(place->text, now.text) == 0
                                 : now.offset == place->offset &&
                                       memcmp(now.build_id, place->build_id, NVMI_BUILD_ID) == 0;
}
