/* piece.h: bytes of a word that a transaction wrote, as a method lists them (method.h, `pieces`).
 */
#pragma once

#include "base/basics.h"

struct nvmi_piece {
  uint64_t offset; /* of the word: a multiple of 8 */
  uint64_t known;  /* the word as it is on the side where the bytes are not */
  uint64_t bytes, mask;
  uint64_t number; /* pieces of a word apply from the lowest on */
};

static inline bool nvmi_piece_add(struct nvmi_array *pieces, uint64_t offset, uint64_t known,
                                  uint64_t bytes, uint64_t mask, uint64_t number) {
  struct nvmi_piece piece = {offset, known, bytes, mask, number};
  return nvmi_array_push(pieces, &piece, sizeof piece);
}
