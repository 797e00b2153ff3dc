/* modules.h: the program and its shared objects, as they are loaded now (symbols.h).
 *
 * Build: what tells a module from others of its name, and from itself built anew (builds.h).
 */
#pragma once

#include "symbols/symbols.h"

#include <elf.h>

enum { NVMI_PARTS_MAX = 12 };

struct nvmi_part {
  uint64_t start, end; /* as linked */
  uint64_t file, file_size;
  bool readable, writable, executable;
};

/* The table of symbols that others may bind to, in the file. */
struct nvmi_exported {
  const Elf64_Sym *symbols;
  size_t count, names_size;
  const char *names;
  const uint16_t *versions; /* of each; null: it has none */
};

struct nvmi_module {
  char name[128];
  uint64_t base; /* added to addresses as linked */
  uint8_t build[NVMI_BUILD_ID];
  bool has_build;         /* known by now */
  bool has_id;            /* the linker gave it one, made of its bytes as far as can be seen */
  struct nvmi_part notes; /* that this lies in; else empty */
  struct nvmi_part parts[NVMI_PARTS_MAX];
  unsigned part_count;
  uint64_t relro, relro_end; /* writable until the loader was done */
  uint64_t dynamic, dynamic_end;
  const char *bytes; /* the file; null: not read, or not readable */
  size_t size;
  bool tried;
  const Elf64_Sym *symbols;
  size_t symbol_count;
  const char *names;
  size_t names_size;
  struct nvmi_exported exported;
  uint64_t strings, strings_end; /* as linked: NVM_STATIC_STRINGS (abi_statics.h) */
};

/* Reads what is loaded now, if that has changed; afterwards the functions below may be called.
 * False: out of memory. */
bool nvmi_modules_load(void);

unsigned nvmi_modules_count(void);
/* The first is the program. */
struct nvmi_module *nvmi_module_at(unsigned index);
bool nvmi_module_is_program(const struct nvmi_module *module);

/* The one that an address lies in, and the part of it; null: none. */
struct nvmi_module *nvmi_module_of(uint64_t address, const struct nvmi_part **part);

/* Calls `look`, with the path of its file, at a moment when nobody can unload the module: another
 * thread may have closed the library since its table was made. `look` takes no lock. False: it is
 * no longer loaded, `look` was not called. */
bool nvmi_module_while_loaded(const struct nvmi_module *module,
                              void (*look)(void *context, const char *path), void *context);

/* Whether its code may be called: the loader lists libraries before it has made them ready. Those
 * that were there before the program's first code are. */
bool nvmi_module_was_at_start(const struct nvmi_module *module);

const uint8_t *nvmi_module_build(struct nvmi_module *module);

/* Fills in symbols, names and strings: the full symbol table when the file has one, else that of dynamic
 * symbols; none, if the file is no longer the one that was loaded. */
void nvmi_module_read(struct nvmi_module *module);

/* Of its symbol table: a symbol's name, and whether it is that of a function or object there. */
static inline const char *nvmi_module_name_of(const struct nvmi_module *module,
                                              const Elf64_Sym *symbol) {
  return symbol->st_name < module->names_size ? module->names + symbol->st_name : "";
}
static inline bool nvmi_module_is_named(const Elf64_Sym *symbol) {
  unsigned type = ELF64_ST_TYPE(symbol->st_info);
  return (type == STT_FUNC || type == STT_OBJECT) && symbol->st_shndx != SHN_UNDEF;
}

/* Whether an address lies in the program itself, which stays where it is. Any thread. */
bool nvmi_is_of_program(uint64_t address);

/* Gives back the memory of what was read. One thread at a time uses the functions above and this
 * one: their caller sees to it. */
void nvmi_symbols_release(void);

/* How many modules have been unloaded in this process. While that stays, what lies at the address
 * of a module is what lay there before. Any thread. */
uint64_t nvmi_modules_unloaded(void);
