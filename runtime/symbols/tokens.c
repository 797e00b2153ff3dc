/* tokens.c: see tokens.h. */
#include "symbols/tokens.h"
#include "types/judged.h"

#include "types/types.h"

/* In words without a tag: all other bits are the number. */
#define PLAIN UINT64_C(0x4e56000000000000)
#define PLAIN_NUMBER UINT64_C(0x0000ffffffffffff)

enum { NUMBER_BITS = 32 };
#define ABOVE_ADDRESSES (UINT64_MAX << NVMI_ADDRESS_BITS)
#define PATTERN (ABOVE_ADDRESSES | (UINT64_C(0x4e564e564e56) & ~ABOVE_ADDRESSES))

bool nvmi_token_fits(uint64_t tag) {
  return ~tag & ABOVE_ADDRESSES && __builtin_popcountll(~tag & ~ABOVE_ADDRESSES) >= NUMBER_BITS;
}

/* The lowest bits that the tag leaves. */
static uint64_t number_bits(uint64_t tag) {
  uint64_t bits = 0, left = ~tag;
  for (unsigned i = 0; i < NUMBER_BITS && left; i++, left &= left - 1)
    bits |= left & -left;
  return bits;
}

uint64_t nvmi_token(uint64_t tag, uint32_t entry) {
  if (!tag)
    return PLAIN | entry;
  uint64_t left = number_bits(tag), token = PATTERN & ~tag & ~left;
  for (; left; left &= left - 1, entry >>= 1)
    token |= entry & 1 ? left & -left : 0;
  return token;
}

bool nvmi_token_is(uint64_t tag, uint64_t value, uint32_t *entry) {
  uint64_t number = 0, left = number_bits(tag);
  for (unsigned i = 0; left; left &= left - 1, i++)
    number |= value & left & -left ? UINT64_C(1) << i : 0;
  if (!tag)
    number = (value & ~PLAIN_NUMBER) == PLAIN ? value & PLAIN_NUMBER : UINT64_MAX;
  *entry = (uint32_t)number;
  return number <= UINT32_MAX && nvmi_token_fits(tag) && nvmi_token(tag, *entry) == value;
}
