/* image.c: see image.h. */
#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned start_of(const struct image *image, unsigned object) {
  return object ? WORLD_MAX + object * NODE_MAX : 0 * image->world_bytes;
}

static unsigned size_of(const struct image *image, unsigned object) {
  return object ? image->node_bytes : image->world_bytes;
}

void image_start(struct image *image, unsigned world_bytes, unsigned node_bytes, bool side) {
  memset(image, 0, sizeof *image);
  image->world_bytes = world_bytes;
  image->node_bytes = node_bytes;
  for (unsigned i = 0; i < sizeof image->pointers / sizeof *image->pointers; i++)
    image->pointers[i].target = NO_POINTER;
  for (unsigned i = 0; i < world_bytes; i++)
    image->bytes[i] = (uint8_t)(i * 7 + 3);
  image->alive[0] = true;
  image->alive[1] = side;
}

static int digit(char c) { return c <= '9' ? c - '0' : c - 'a' + 10; }

static void read_bytes(uint8_t *to, const char *hex) {
  for (; *hex > ' '; hex += 2)
    *to++ = (uint8_t)(digit(hex[0]) << 4 | digit(hex[1]));
}

const char *image_line(struct image *image, const char *line) {
  char *end, kind = *line;
  if (!kind || !strchr("bp+-", kind))
    return NULL;
  unsigned object = (unsigned)strtoul(line + 1, &end, 10);
  if (kind == '+') {
    image->alive[object] = true;
  } else if (kind == '-') {
    image->alive[object] = false;
  } else {
    unsigned at = start_of(image, object) + (unsigned)strtoul(end, &end, 10);
    if (kind == 'b') {
      read_bytes(image->bytes + at, end + 1);
    } else {
      image->pointers[at / 8].target = (int16_t)strtol(end, &end, 10);
      image->pointers[at / 8].add = (int16_t)strtol(end, &end, 10);
    }
  }
  return strchr(line, '\n') + 1;
}

static bool pointer_is(const struct pointer *wanted, uint64_t got, const uint64_t *objects) {
  if (wanted->target == TO_ANYTHING)
    return true;
  if (wanted->target == TO_NULL)
    return !got;
  return got == objects[wanted->target] + (uint64_t)wanted->add;
}

bool image_is(const struct image *image, const uint64_t *objects, char *said, unsigned long size) {
  for (unsigned object = 0; object < OBJECTS_MAX; object++) {
    if (!image->alive[object])
      continue;
    unsigned start = start_of(image, object);
    const uint8_t *memory = (const uint8_t *)objects[object];
    for (unsigned i = 0; i < size_of(image, object); i++) {
      const struct pointer *pointer = &image->pointers[(start + i) / 8];
      if (pointer->target == NO_POINTER) {
        if (memory[i] == image->bytes[start + i])
          continue;
        snprintf(said, size, "object %u, byte %u: %02x, must be %02x", object, i, memory[i],
                 image->bytes[start + i]);
        return false;
      }
      uint64_t got;
      memcpy(&got, memory + i, sizeof got);
      if (!pointer_is(pointer, got, objects)) {
        snprintf(said, size, "object %u, pointer at %u: %#lx, must lead to object %d", object, i,
                 (unsigned long)got, pointer->target);
        return false;
      }
      i += 7;
    }
  }
  return true;
}

unsigned image_blocks(const struct image *image) {
  unsigned count = 0;
  for (unsigned object = 0; object < OBJECTS_MAX; object++)
    count += image->alive[object];
  return count;
}

static struct cell {
  unsigned word, tag, bytes, first, bits, unless, values;
  unsigned long value[2];
} cells[16];
static unsigned cell_count;

void image_cell(const char *line) {
  if (*line == 'P') {
    cell_count = 0;
    return;
  }
  struct cell *cell = &cells[cell_count++];
  int count = sscanf(line, "C %u %u %u %u %u %u %lu %lu", &cell->word, &cell->tag, &cell->bytes,
                     &cell->first, &cell->bits, &cell->unless, &cell->value[0], &cell->value[1]);
  cell->values = (unsigned)count - 6;
}

/* Of the root: whether what lies there is a pointer now. */
static bool is_pointer(const struct image *image, unsigned word) {
  for (unsigned i = 0; i < cell_count; i++) {
    const struct cell *cell = &cells[i];
    if (cell->word != word)
      continue;
    unsigned long tag = 0;
    memcpy(&tag, image->bytes + cell->tag, cell->bytes);
    tag = tag >> cell->first & (cell->bits < 64 ? (1ul << cell->bits) - 1 : ~0ul);
    for (unsigned n = 0; n < cell->values; n++)
      if (tag == cell->value[n])
        return !cell->unless;
    return cell->unless;
  }
  return true;
}

static void mark_targets(const struct image *image, unsigned from, bool *led_to) {
  unsigned start = start_of(image, from) / 8;
  for (unsigned i = start; i < start + size_of(image, from) / 8; i++)
    if (image->pointers[i].target >= 0 && (from || is_pointer(image, i * 8)))
      led_to[image->pointers[i].target] = true;
}

void image_release(struct image *image) {
  for (bool some = true; some;) {
    bool led_to[OBJECTS_MAX] = {true, true}; /* the roots */
    some = false;
    for (unsigned object = 0; object < OBJECTS_MAX; object++)
      if (image->alive[object])
        mark_targets(image, object, led_to);
    for (unsigned object = 0; object < OBJECTS_MAX; object++)
      if (image->alive[object] && !led_to[object]) {
        image->alive[object] = false;
        some = true;
      }
  }
}
