/* modules.c: see modules.h. Reads the modules' files: symbol tables are not loaded. */
#define _GNU_SOURCE

#include "symbols/modules.h"

#include "base/own_files.h"
#include "base/uncancelled.h"
#include "core/pool.h"
#include "symbols/builds.h"

#include "nvmove/abi_statics.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MODULES_MAX = 256 };

static struct nvmi_module *modules;
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

/* The first module is the program; it is loaded as one. */
static int read_program(struct dl_phdr_info *info, size_t size, void *context) {
  uint64_t *bounds = context;
  (void)size;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uint64_t start = info->dlpi_addr + p->p_vaddr, end = start + p->p_memsz;
    if (p->p_type != PT_LOAD)
      continue;
    bounds[0] = !bounds[1] || start < bounds[0] ? start : bounds[0];
    bounds[1] = end > bounds[1] ? end : bounds[1];
  }
  return 1;
}

bool nvmi_is_of_program(uint64_t address) {
  uint64_t bounds[2] = {0};
  nvmi_each_module(read_program, bounds);
  return address - bounds[0] < bounds[1] - bounds[0];
}

static bool read_notes(struct nvmi_module *module, const char *at, size_t size) {
  const char *end = at + size;
  while (at + sizeof(ElfW(Nhdr)) <= end) {
    const ElfW(Nhdr) *note = (const void *)at;
    const char *name = at + sizeof *note, *data = name + ((note->n_namesz + 3) & ~3u);
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
        note->n_descsz >= NVMI_LINKED_ID_MIN) {
      memcpy(module->build, data,
             note->n_descsz < NVMI_LINKED_ID ? note->n_descsz : NVMI_LINKED_ID);
      return true;
    }
    at = data + ((note->n_descsz + 3) & ~3u);
  }
  return false;
}

static const char *name_of(const struct dl_phdr_info *info) {
  const char *slash = strrchr(info->dlpi_name, '/');
  return slash ? slash + 1 : info->dlpi_name;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  if (module_count == MODULES_MAX)
    return 1;
  struct nvmi_module *module = &modules[module_count];
  *module = (struct nvmi_module){.base = info->dlpi_addr};
  const char *name = module_count == 0 ? "" : name_of(info);
  strncpy(module->name, name, sizeof module->name - 1);
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    struct nvmi_part part = {.start = p->p_vaddr,
                             .end = p->p_vaddr + p->p_memsz,
                             .file = p->p_offset,
                             .file_size = p->p_filesz,
                             .readable = p->p_flags & PF_R,
                             .writable = p->p_flags & PF_W,
                             .executable = p->p_flags & PF_X};
    if (p->p_type == PT_NOTE && !module->has_id &&
        read_notes(module, (const char *)info->dlpi_addr + p->p_vaddr, p->p_memsz))
      module->has_id = true, module->notes = part;
    if (p->p_type == PT_GNU_RELRO)
      module->relro = part.start, module->relro_end = part.end;
    if (p->p_type == PT_DYNAMIC)
      module->dynamic = part.start, module->dynamic_end = part.end;
    if (p->p_type == PT_LOAD && module->part_count < NVMI_PARTS_MAX)
      module->parts[module->part_count++] = part;
  }
  module_count++;
  return 0;
}

bool nvmi_modules_load(void) {
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

unsigned nvmi_modules_count(void) { return module_count; }
struct nvmi_module *nvmi_module_at(unsigned index) { return &modules[index]; }
bool nvmi_module_is_program(const struct nvmi_module *module) { return module == modules; }

static const struct nvmi_part *part_of(const struct nvmi_module *module, uint64_t offset) {
  for (unsigned i = 0; i < module->part_count; i++)
    if (offset - module->parts[i].start < module->parts[i].end - module->parts[i].start)
      return &module->parts[i];
  return NULL;
}

struct nvmi_module *nvmi_module_of(uint64_t address, const struct nvmi_part **part) {
  for (unsigned i = 0; i < module_count; i++)
    if ((*part = part_of(&modules[i], address - modules[i].base)))
      return &modules[i];
  return NULL;
}

struct looker {
  const struct nvmi_module *module;
  void (*look)(void *, const char *);
  void *context;
  bool called;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *context) {
  struct looker *looker = context;
  const struct nvmi_module *module = looker->module;
  (void)size;
  if (info->dlpi_addr != module->base ||
      (module != modules && strncmp(name_of(info), module->name, sizeof module->name - 1) != 0))
    return 0;
  looker->called = true;
  looker->look(looker->context,
               *info->dlpi_name && module != modules ? info->dlpi_name : "/proc/self/exe");
  return 1;
}

/* The loader unloads nothing while it tells what is loaded. */
bool nvmi_module_while_loaded(const struct nvmi_module *module,
                              void (*look)(void *context, const char *path), void *context) {
  struct looker looker = {module, look, context, false};
  nvmi_each_module(look_at, &looker);
  return looker.called;
}

static unsigned at_start; /* modules, the first ones */

static int count_module(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)info, (void)size, (void)unused;
  at_start++;
  return 0;
}

/* All that is loaded with the code of this file is ready before constructors run. */
__attribute__((constructor)) static void count_at_start(void) {
  nvmi_each_module(count_module, NULL);
}

bool nvmi_module_was_at_start(const struct nvmi_module *module) {
  return module < modules + at_start;
}

static void sum(void *module, const char *path) {
  (void)path;
  nvmi_build_sum(module);
}

const uint8_t *nvmi_module_build(struct nvmi_module *module) {
  if (!module->has_build)
    nvmi_module_while_loaded(module, sum, module);
  module->has_build = true;
  return module->build;
}

static void map_file(struct nvmi_module *module, const char *path) {
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

/* Not memcmp: as in builds.c. */
__attribute__((no_sanitize("address"))) static bool is_equal(const char *a, const char *b,
                                                             size_t size) {
  size_t i = 0;
  for (uint64_t x, y; size - i >= sizeof x; i += sizeof x) {
    __builtin_memcpy(&x, a + i, sizeof x);
    __builtin_memcpy(&y, b + i, sizeof y);
    if (x != y)
      return false;
  }
  while (i < size && a[i] == b[i])
    i++;
  return i == size;
}

/* `from`: bytes of it that need not be the same. */
static bool is_as_loaded(const struct nvmi_module *module, const struct nvmi_part *part,
                         uint64_t from) {
  return part->file <= module->size && part->file_size <= module->size - part->file &&
         from <= part->file_size &&
         is_equal(module->bytes + part->file + from,
                  (const char *)module->base + part->start + from, part->file_size - from);
}

/* The file may have been replaced since: its symbols say nothing of what is loaded then. What is
 * compared is what tells builds apart (builds.h), as far as nobody writes it. */
static bool is_loaded_file(const struct nvmi_module *module) {
  if (!module->bytes || memcmp(module->bytes, ELFMAG, SELFMAG) != 0 ||
      (module->has_id && !is_as_loaded(module, &module->notes, 0)))
    return false;
  unsigned count = nvmi_is_relocated_text(module) ? 0 : module->part_count;
  for (unsigned i = 0; i < count; i++) {
    const struct nvmi_part *part = &module->parts[i];
    if (part->readable && !part->writable && !(module->has_id && part->executable) &&
        !is_as_loaded(module, part, part->file ? 0 : sizeof(Elf64_Ehdr)))
      return false;
  }
  return true;
}

static bool lies_in(const struct nvmi_module *module, const Elf64_Shdr *section) {
  return section->sh_offset <= module->size &&
         section->sh_size <= module->size - section->sh_offset;
}

static void find_strings(struct nvmi_module *module, const Elf64_Shdr *sections,
                         const Elf64_Ehdr *head) {
  const Elf64_Shdr *names = &sections[head->e_shstrndx];
  if (head->e_shstrndx >= head->e_shnum || !lies_in(module, names))
    return;
  for (unsigned i = 0; i < head->e_shnum; i++) {
    const Elf64_Shdr *section = &sections[i];
    uint64_t at = section->sh_name, size = sizeof NVM_STATIC_STRINGS;
    if (at < names->sh_size && size <= names->sh_size - at && section->sh_flags & SHF_ALLOC &&
        memcmp(module->bytes + names->sh_offset + at, NVM_STATIC_STRINGS, size) == 0) {
      module->strings = section->sh_addr;
      module->strings_end = section->sh_addr + section->sh_size;
    }
  }
}

static void find_symbols(struct nvmi_module *module, const Elf64_Shdr *sections,
                         const Elf64_Ehdr *head) {
  const Elf64_Shdr *best = NULL;
  for (unsigned i = 0; i < head->e_shnum; i++)
    if (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !best))
      best = &sections[i];
  if (!best || best->sh_link >= head->e_shnum || !lies_in(module, best) ||
      !lies_in(module, &sections[best->sh_link]))
    return;
  const Elf64_Shdr *names = &sections[best->sh_link];
  module->symbols = (const void *)(module->bytes + best->sh_offset);
  module->symbol_count = best->sh_size / sizeof *module->symbols;
  module->names = module->bytes + names->sh_offset;
  module->names_size = names->sh_size;
}

static void find_exported(struct nvmi_module *module, const Elf64_Shdr *sections,
                          const Elf64_Ehdr *head) {
  struct nvmi_exported *exported = &module->exported;
  for (unsigned i = 0; i < head->e_shnum; i++) {
    const Elf64_Shdr *section = &sections[i];
    if (section->sh_type == SHT_DYNSYM && lies_in(module, section) &&
        section->sh_link < head->e_shnum && lies_in(module, &sections[section->sh_link])) {
      exported->symbols = (const void *)(module->bytes + section->sh_offset);
      exported->count = section->sh_size / sizeof *exported->symbols;
      exported->names = module->bytes + sections[section->sh_link].sh_offset;
      exported->names_size = sections[section->sh_link].sh_size;
    }
    if (section->sh_type == SHT_GNU_versym && lies_in(module, section) && exported->symbols &&
        section->sh_size / sizeof *exported->versions >= exported->count)
      exported->versions = (const void *)(module->bytes + section->sh_offset);
  }
}

static void read_file(void *context, const char *path) {
  struct nvmi_module *module = context;
  map_file(module, path);
  if (!is_loaded_file(module))
    return;
  const Elf64_Ehdr *head = (const void *)module->bytes;
  const Elf64_Shdr *sections = (const void *)(module->bytes + head->e_shoff);
  if (head->e_shoff > module->size ||
      head->e_shnum > (module->size - head->e_shoff) / sizeof *sections)
    return;
  find_symbols(module, sections, head);
  find_exported(module, sections, head);
  find_strings(module, sections, head);
}

void nvmi_module_read(struct nvmi_module *module) {
  if (module->tried)
    return;
  module->tried = true;
  nvmi_module_while_loaded(module, read_file, module);
}
