/* image.h: what the model says is in memory: the bytes of each object, and where its pointers lead.
 *
 * The script's lines change an image: "b OBJECT OFFSET HEX" bytes, "p OBJECT OFFSET TARGET ADD" a
 * pointer into an object (TARGET -1: null, -2: anything), "+ OBJECT", "- OBJECT" it is there, or
 * not.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { OBJECTS_MAX = 48, WORLD_MAX = 2048, NODE_MAX = 128 };
enum { TO_NULL = -1, TO_ANYTHING = -2, NO_POINTER = -3 };

struct pointer {
  int16_t target, add;
};
struct image {
  unsigned world_bytes, node_bytes;
  bool alive[OBJECTS_MAX];
  uint8_t bytes[WORLD_MAX + OBJECTS_MAX * NODE_MAX];
  struct pointer pointers[(WORLD_MAX + OBJECTS_MAX * NODE_MAX) / 8];
};

/* `side`: object 1 is there, the root of a second pool. */
void image_start(struct image *image, unsigned world_bytes, unsigned node_bytes, bool side);
/* Reads one line if it is one of these; gives the next, or null. */
const char *image_line(struct image *image, const char *line);
/* Whether memory is like this; else `said` says what is not. `objects`: where they are. */
bool image_is(const struct image *image, const uint64_t *objects, char *said, unsigned long size);
unsigned image_blocks(const struct image *image);
/* Reads a line "C WORD TAG BYTES FIRST-BIT BITS UNLESS VALUE...": the word at an offset of the root
 * is a pointer if these bits of what lies at another have one of the values. A line "P" ends all.
 */
void image_cell(const char *line);
/* Without the objects to which no pointer of another, or of the root, leads. */
void image_release(struct image *image);
