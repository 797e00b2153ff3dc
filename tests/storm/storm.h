/* storm.h: what the threads of storm.c do, as a function of a seed, a thread and a number.
 *
 * Operation: one transaction. Slot: a place in a thread's own part of the store that holds a text
 * or nothing. A text is known by its slot, the operation that wrote it and its length.
 */
#pragma once

#include <stdint.h>
#include <string.h>

enum { THREADS = 3, SLOTS = 48, TEXT_MAX = 150000 };

enum kind { PUT, REMOVE, PUT_THREE, TRANSFER };

struct operation {
  enum kind kind;
  unsigned slot[3]; /* TRANSFER: from the first, to the second */
  uint32_t length[3];
};

/* Shared with the process that looks on: the last operation that each thread knows to be durable.
 */
struct progress {
  volatile uint64_t acknowledged[THREADS];
};

static inline uint64_t storm_random(uint64_t *state) {
  *state += UINT64_C(0x9e3779b97f4a7c15);
  uint64_t z = *state;
  z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
  return z ^ z >> 31;
}

/* Mostly short, now and then a page or more, rarely large enough for chunks of its own. */
static inline uint32_t storm_length(uint64_t *state) {
  uint64_t dice = storm_random(state) % 64;
  uint32_t most = dice == 0 ? TEXT_MAX : dice < 6 ? 9000 : 300;
  return 1 + (uint32_t)(storm_random(state) % most);
}

static inline struct operation storm_operation(uint64_t seed, unsigned thread, uint64_t number) {
  uint64_t state = seed * 1000003 + thread * 7919 + number * UINT64_C(0x2545f4914f6cdd1d);
  static const enum kind kinds[] = {PUT, PUT, PUT, PUT, REMOVE, REMOVE, PUT_THREE, TRANSFER};
  struct operation o = {.kind = kinds[storm_random(&state) % 8]};
  o.slot[0] = (unsigned)(storm_random(&state) % SLOTS);
  for (int i = 1; i < 3; i++) /* three different ones */
    o.slot[i] = (o.slot[i - 1] + 1 + (unsigned)(storm_random(&state) % (SLOTS / 3))) % SLOTS;
  for (int i = 0; i < 3; i++)
    o.length[i] = storm_length(&state);
  return o;
}

static inline char storm_byte(unsigned slot, uint64_t number, uint32_t at) {
  return (char)(slot * 31 + number * 7 + at * 13 + (at >> 8));
}
