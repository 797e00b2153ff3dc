/* format.c: the tables of docs/internals/pool-format.md are those of layout.h. */
#include "format/layout.h"
#include "harness.h"

#include <string.h>

struct part {
  const char *structure, *field;
  size_t offset, size;
};
#define PART(structure, field)                                                                     \
  {#structure, #field, offsetof(struct structure, field), sizeof((struct structure *)0)->field}

static const struct part parts[] = {
    PART(nvm_header, magic),
    PART(nvm_header, format),
    PART(nvm_header, header_size),
    PART(nvm_header, check),
    PART(nvm_header, sequence),
    PART(nvm_header, id),
    PART(nvm_header, base),
    PART(nvm_header, range),
    PART(nvm_header, heap_offset),
    PART(nvm_header, heap_size),
    PART(nvm_header, generation),
    PART(nvm_header, clean_shutdowns),
    PART(nvm_header, unclean_shutdowns),
    PART(nvm_header, state),
    PART(nvm_header, method),
    PART(nvm_header, log_format),
    PART(nvm_header, domain),
    PART(nvm_header, build_id),
    PART(nvm_header, moves),
    PART(nvm_header, statics),
    PART(nvm_header, moved_from),
    PART(nvm_header, counts),
    PART(nvm_header, reserved),
    PART(nvm_floor, order),
    PART(nvm_floor, durable),
    PART(nvm_log_slot, bank),
    PART(nvm_segment, check),
    PART(nvm_segment, next),
    PART(nvm_segment, self),
    PART(nvm_segment, size),
    PART(nvm_segment, slot),
    PART(nvm_segment, bank),
    PART(nvm_segment, position),
    PART(nvm_segment, reserved0),
    PART(nvm_segment, reserved),
    PART(nvm_frame, check),
    PART(nvm_frame, transaction),
    PART(nvm_frame, order),
    PART(nvm_frame, offset),
    PART(nvm_frame, shape),
};
enum { PARTS = sizeof parts / sizeof *parts };

/* Where nothing is left out, the parts of a structure fill it. */
static size_t bytes_of(const char *structure) {
  size_t bytes = 0;
  for (unsigned i = 0; i < PARTS; i++)
    bytes += strcmp(parts[i].structure, structure) == 0 ? parts[i].size : 0;
  return bytes;
}

static char *read_text(const char *path) {
  static char text[1 << 17];
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  return text;
}

TEST_ONCE(format_tables) {
  const char *text = read_text(NVMOVE_TEST_SOURCE "/docs/internals/pool-format.md");
  for (const struct part *part = parts; part < parts + PARTS; part++) {
    char heading[64], row[128];
    snprintf(heading, sizeof heading, ": `%s`\n", part->structure);
    snprintf(row, sizeof row, "\n| %zu | %zu | `%s` | ", part->offset, part->size, part->field);
    const char *start = strstr(text, heading), *end = start ? strstr(start, "\n### ") : NULL;
    const char *found = start ? strstr(start, row) : NULL;
    if (!found || found > end)
      fprintf(stderr, "%s:%s", part->structure, row);
    CHECK(found && end && found < end);
  }
  CHECK(bytes_of("nvm_header") == sizeof(struct nvm_header));
  CHECK(bytes_of("nvm_floor") == sizeof(struct nvm_floor));
  CHECK(bytes_of("nvm_log_slot") == sizeof(struct nvm_log_slot));
  CHECK(bytes_of("nvm_segment") == sizeof(struct nvm_segment));
  CHECK(bytes_of("nvm_frame") == sizeof(struct nvm_frame));
}

/* A kind and its name, as `| 1 | UNDO | `. */
#define KIND(prefix, name) {#name, prefix##name}

TEST_ONCE(format_kinds) {
  static const struct {
    const char *name;
    unsigned kind;
  } kinds[] = {KIND(NVM_FRAME_, UNDO),    KIND(NVM_FRAME_, REDO),
               KIND(NVM_FRAME_, COMMIT),  KIND(NVM_FRAME_, COMMIT_CHECKED),
               KIND(NVM_FRAME_, RETIRED), KIND(NVM_CHUNK_, VIRGIN),
               KIND(NVM_CHUNK_, FREE),    KIND(NVM_CHUNK_, SMALL),
               KIND(NVM_CHUNK_, LARGE),   KIND(NVM_CHUNK_, LOG),
               KIND(NVM_CHUNK_, TYPES),   KIND(NVM_CHUNK_, STATICS),
               KIND(NVM_CHUNK_, COUNTS)};
  const char *text = read_text(NVMOVE_TEST_SOURCE "/docs/internals/pool-format.md");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char row[64];
    snprintf(row, sizeof row, "\n| %u | %s | ", kinds[i].kind, kinds[i].name);
    CHECK(strstr(text, row));
  }
}
