/* builds.c: see builds.h.
 *
 * Tables with pointers are written once, by the loader. Where relocations have their addends with
 * them these are part of what nobody writes. Where they have not (DT_RELR), or where the linker has
 * put in the pointers already (no position-independent program), the pointers themselves are part
 * of the sum, as linked; all others depend on where libraries lie.
 */
#include "symbols/builds.h"
#include "symbols/modules.h"

#include <string.h>
#include <sys/mman.h>

#ifndef DT_RELR
#define DT_RELRSZ 35
#define DT_RELR 36
#endif

struct sums {
  uint64_t of[2];
};

static void add(struct sums *sums, uint64_t word) {
  for (unsigned i = 0; i < 2; i++) {
    sums->of[i] = (sums->of[i] ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    sums->of[i] ^= sums->of[i] >> (29 + 3 * i);
  }
}

/* Not nvmi_check: between constants of programs built with AddressSanitizer lies memory that only
 * code without it may read. */
__attribute__((no_sanitize("address"))) static void add_bytes(struct sums *sums, const char *at,
                                                              const char *end) {
  for (; end - at >= (long)sizeof(uint64_t); at += sizeof(uint64_t)) {
    uint64_t word;
    __builtin_memcpy(&word, at, sizeof word);
    add(sums, word);
  }
  uint64_t rest = 0;
  for (unsigned i = 0; at + i < end; i++)
    rest |= (uint64_t)(uint8_t)at[i] << 8 * i;
  if (at < end)
    add(sums, rest);
}

/* A table that the loader has found by its dynamic section, and its bytes. */
struct table {
  uint64_t at, size;
};

/* The words between `start` and `end`, as linked, that the loader made read-only. */
struct tables {
  const struct nvmi_module *module;
  struct sums *sums;
  uint64_t start, end;
  uint64_t *relocated; /* a bit for each word: not as the linker left it */
  struct table rela, jumps, relr;
};

/* As add_bytes. */
__attribute__((no_sanitize("address"))) static uint64_t word_at(const struct tables *tables,
                                                                uint64_t place) {
  return *(const volatile uint64_t *)(tables->module->base + place);
}

/* Some loaders add the base to addresses in the dynamic section. */
static uint64_t linked(const struct nvmi_module *module, uint64_t address) {
  return address >= module->base ? address - module->base : address;
}

static void find_tables(struct tables *tables) {
  const struct nvmi_module *module = tables->module;
  const Elf64_Dyn *dynamic = (const void *)(module->base + module->dynamic);
  for (; dynamic->d_tag != DT_NULL; dynamic++)
    switch (dynamic->d_tag) {
    case DT_RELA:
      tables->rela.at = linked(module, dynamic->d_un.d_ptr);
      break;
    case DT_RELASZ:
      tables->rela.size = dynamic->d_un.d_val;
      break;
    case DT_JMPREL:
      tables->jumps.at = linked(module, dynamic->d_un.d_ptr);
      break;
    case DT_PLTRELSZ:
      tables->jumps.size = dynamic->d_un.d_val;
      break;
    case DT_RELR:
      tables->relr.at = linked(module, dynamic->d_un.d_ptr);
      break;
    case DT_RELRSZ:
      tables->relr.size = dynamic->d_un.d_val;
      break;
    default:
      break;
    }
}

static void mark(const struct tables *tables, uint64_t from, uint64_t to) {
  for (uint64_t place = from & ~UINT64_C(7); place < to; place += sizeof(uint64_t))
    if (place >= tables->start && place < tables->end) {
      uint64_t word = (place - tables->start) / sizeof(uint64_t);
      tables->relocated[word / 64] |= UINT64_C(1) << word % 64;
    }
}

static void mark_table(const struct tables *tables, const struct table *table) {
  const Elf64_Rela *rela = (const void *)(tables->module->base + table->at);
  for (uint64_t i = 0; i < table->size / sizeof *rela; i++)
    mark(tables, rela[i].r_offset, rela[i].r_offset + sizeof(uint64_t));
}

static void add_relative(const struct tables *tables, uint64_t place) {
  if (place >= tables->start && place < tables->end)
    add(tables->sums, word_at(tables, place) - tables->module->base);
}

/* A word is a place, or, with its lowest bit set, says which of the 63 behind the last follow. */
static void add_packed(const struct tables *tables) {
  const uint64_t *packed = (const void *)(tables->module->base + tables->relr.at);
  uint64_t place = 0;
  for (uint64_t i = 0; i < tables->relr.size / sizeof *packed; i++) {
    if (!(packed[i] & 1)) {
      add_relative(tables, packed[i]);
      place = packed[i] + sizeof(uint64_t);
      continue;
    }
    for (unsigned bit = 1; bit < 64; bit++)
      if (packed[i] >> bit & 1)
        add_relative(tables, place + (bit - 1) * sizeof(uint64_t));
    place += 63 * sizeof(uint64_t);
  }
}

/* Pointers into the program that no relocation made. */
static void add_linked(struct tables *tables, uint64_t end) {
  size_t size = ((tables->end - tables->start) / 512 + 1) * sizeof(uint64_t);
  tables->relocated = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (tables->relocated == MAP_FAILED)
    return;
  mark_table(tables, &tables->rela);
  mark_table(tables, &tables->jumps);
  mark(tables, tables->module->dynamic, tables->module->dynamic_end);
  for (uint64_t place = tables->start; place < tables->end; place += sizeof(uint64_t)) {
    uint64_t word = (place - tables->start) / sizeof(uint64_t);
    uint64_t value = word_at(tables, place);
    if (!(tables->relocated[word / 64] >> word % 64 & 1) &&
        value - tables->module->parts[0].start < end - tables->module->parts[0].start)
      add(tables->sums, value);
  }
  munmap(tables->relocated, size);
}

/* Up to where the file goes: behind lie copies of libraries' data. */
static void add_tables(const struct nvmi_module *module, struct sums *sums) {
  struct tables tables = {.module = module, .sums = sums};
  uint64_t end = 0;
  for (unsigned i = 0; i < module->part_count; i++) {
    const struct nvmi_part *part = &module->parts[i];
    uint64_t filled = part->start + part->file_size;
    if (module->relro >= part->start && module->relro < filled) {
      tables.start = (module->relro + 7) & ~UINT64_C(7);
      tables.end = (module->relro_end < filled ? module->relro_end : filled) & ~UINT64_C(7);
    }
    end = part->end > end ? part->end : end;
  }
  if (tables.start >= tables.end || !module->dynamic)
    return;
  find_tables(&tables);
  add_packed(&tables);
  if (!module->base)
    add_linked(&tables, end);
}

bool nvmi_is_relocated_text(const struct nvmi_module *module) {
  bool relocated = false;
  const Elf64_Dyn *at = (const void *)(module->base + module->dynamic);
  for (; module->dynamic && at->d_tag != DT_NULL; at++)
    relocated |= at->d_tag == DT_TEXTREL || (at->d_tag == DT_FLAGS && at->d_un.d_val & DF_TEXTREL);
  return relocated;
}

/* Without the file's own header: removing symbols changes that. */
void nvmi_build_sum(struct nvmi_module *module) {
  struct sums sums = {{1, 2}};
  unsigned count = nvmi_is_relocated_text(module) ? 0 : module->part_count;
  for (unsigned i = 0; i < count; i++) {
    const struct nvmi_part *part = &module->parts[i];
    const char *start = (const char *)module->base + part->start;
    if (part->readable && !part->writable && !(module->has_id && part->executable))
      add_bytes(&sums, start + (part->file ? 0 : sizeof(Elf64_Ehdr)),
                start + (part->end - part->start));
  }
  add_tables(module, &sums);
  size_t size = module->has_id ? sizeof sums.of[0] : sizeof sums;
  memcpy(module->build + NVMI_BUILD_ID - size, &sums, size);
}

bool nvmi_build_is(const uint8_t noted[NVMI_BUILD_ID], const uint8_t now[NVMI_BUILD_ID]) {
  static const uint8_t none[NVMI_BUILD_ID];
  enum { SUM = NVMI_BUILD_ID - NVMI_LINKED_ID };
  return memcmp(noted, now, NVMI_BUILD_ID) == 0 ||
         (memcmp(noted + NVMI_LINKED_ID, none, SUM) == 0 &&
          memcmp(noted, none, NVMI_LINKED_ID_MIN) != 0 && memcmp(noted, now, NVMI_LINKED_ID) == 0);
}
