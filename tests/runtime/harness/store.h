/* store.h: what nvmove-cc emits before a store, by hand, for tests and benchmarks built without it.
 */
#pragma once

#include "nvmove/abi.h"

#include <string.h>

#define CALL_SITE(size)                                                                            \
  case size:                                                                                       \
    __builtin_call_with_static_chain(__nvm_site_##size(), address);                                \
    return;

static inline void call_site(void *address, size_t size) {
  switch (size) {
    CALL_SITE(1)
    CALL_SITE(2)
    CALL_SITE(4)
    CALL_SITE(8)
    CALL_SITE(16)
    CALL_SITE(64)
  }
  __builtin_call_with_static_chain(__nvm_site(size), address);
}

static inline void note_store(void *address, size_t size) {
  uintptr_t at = (uintptr_t)address;
  if (at >> NVM_RANGE_SHIFT != NVM_RANGE_TAG)
    return;
  uint64_t line = at >> 6;
  const volatile struct nvm_line *slot = &__nvm_lines->slot[line & (NVM_LINE_SLOTS - 1)];
  uint64_t mask = size >= 64 ? UINT64_MAX : (UINT64_C(1) << size) - 1;
  if (slot->line != line || slot->missing >> (at & 63) & mask || slot->line != line ||
      (at & 63) + size > NVM_LINE_SIZE)
    call_site(address, size);
}

/* Behind a group of __nvm_note_ahead. */
static inline void drain_notes(void) {
  if (__nvm_lines->ahead)
    __nvm_drain();
}

/* lvalue = value, noted. */
#define STORE(lvalue, value)                                                                       \
  do {                                                                                             \
    __typeof__(lvalue) *store_to = &(lvalue);                                                      \
    note_store((void *)store_to, sizeof *store_to);                                                \
    *store_to = (value);                                                                           \
  } while (0)

static inline void store_bytes(void *to, const void *from, size_t size) {
  __nvm_note_if_persistent(to, size);
  memcpy(to, from, size);
}
