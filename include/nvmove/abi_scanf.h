/* abi_scanf.h: where the conversions of a scanf format store. The compiler plugin asks for formats
 * that are literals, libnvmove for those that only a run knows.
 *
 * Programs do not include this file. Sizes are those of the LP64 model; what a format means is as
 * glibc has it, with the types that other lengths give (%lls is wide), %m, and the older %as for
 * it. A conversion that nobody knows ends the walk: scanf stops there, too. */
#ifndef NVMOVE_ABI_SCANF_H
#define NVMOVE_ABI_SCANF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
  NVM_SCAN_WIDE = 4,         /* bytes of a wchar_t */
  NVM_SCAN_MULTIBYTE_MAX = 6 /* of a wide character as text: glibc's longest, of UTF-8 */
};

/* A place in a format; begin with the format, the bytes of one of its characters (1 or
 * NVM_SCAN_WIDE) and 0. */
struct nvm_scan {
  const char *at;
  size_t character;
  unsigned next; /* argument of the next conversion that does not say which */
};

/* A conversion that stores `characters * each + end` bytes through an argument. */
struct nvm_scan_store {
  unsigned argument; /* counted from the first behind the format */
  size_t characters; /* at most; 0: as many as the input has */
  size_t each;       /* bytes */
  size_t end;        /* bytes of a terminating zero */
};

/* Bytes that a conversion stores under a length. */
struct nvm_scan_sizes {
  size_t integer, real, character;
};

static inline uint32_t nvm_scan_here(const struct nvm_scan *scan) {
  uint32_t wide;
  if (scan->character == 1)
    return (unsigned char)*scan->at;
  memcpy(&wide, scan->at, sizeof wide);
  return wide;
}

/* The character here, and on behind it; the zero at the end stays. */
static inline uint32_t nvm_scan_take(struct nvm_scan *scan) {
  uint32_t found = nvm_scan_here(scan);
  if (found)
    scan->at += scan->character;
  return found;
}

static inline bool nvm_scan_accept(struct nvm_scan *scan, uint32_t wanted) {
  if (nvm_scan_here(scan) != wanted)
    return false;
  scan->at += scan->character;
  return true;
}

/* 0 when there is none. */
static inline size_t nvm_scan_number(struct nvm_scan *scan) {
  enum { TEN = 10, NUMBER_MAX = 1 << 30 }; /* scanf refuses longer ones */
  size_t number = 0;
  for (; nvm_scan_here(scan) - '0' < TEN; scan->at += scan->character)
    number = number < NUMBER_MAX / TEN ? number * TEN + (nvm_scan_here(scan) - '0') : NUMBER_MAX;
  return number;
}

static inline bool nvm_scan_is(uint32_t conversion, const char *names) {
  return conversion && conversion <= INT8_MAX && strchr(names, (int)conversion);
}

/* %m and what it was before: %as, %aS and %a[. */
static inline bool nvm_scan_allocates(struct nvm_scan *scan) {
  struct nvm_scan before = *scan;
  if (nvm_scan_accept(scan, 'm') ||
      (nvm_scan_accept(scan, 'a') && nvm_scan_is(nvm_scan_here(scan), "sS[")))
    return true;
  *scan = before;
  return false;
}

static inline struct nvm_scan_sizes nvm_scan_length(struct nvm_scan *scan) {
  static const struct nvm_scan_sizes none = {4, 4, 1}, half = {2, 4, 1}, quarter = {1, 4, 1},
                                     longer = {8, 8, 4}, longest = {8, 16, 4};
  uint32_t found = nvm_scan_here(scan);
  if (!nvm_scan_is(found, "hlLqjtz"))
    return none;
  nvm_scan_take(scan);
  bool is_double = nvm_scan_is(found, "hl") && nvm_scan_accept(scan, found);
  if (found == 'h')
    return is_double ? quarter : half;
  return is_double || nvm_scan_is(found, "Lq") ? longest : longer;
}

/* Behind %[; `]` as its first character belongs to the set. False: it has no end. */
static inline bool nvm_scan_set(struct nvm_scan *scan) {
  nvm_scan_accept(scan, '^');
  nvm_scan_accept(scan, ']');
  uint32_t found;
  do
    found = nvm_scan_take(scan);
  while (found && found != ']');
  return found;
}

/* What a conversion of that name stores; false: there is none. */
static inline bool nvm_scan_amount(struct nvm_scan_store *store, uint32_t conversion, size_t width,
                                   struct nvm_scan_sizes sizes, size_t format_character) {
  bool is_string = nvm_scan_is(conversion, "sS[");
  bool is_wide = nvm_scan_is(conversion, "SC") || sizes.character == NVM_SCAN_WIDE;
  store->characters = 1;
  store->end = 0;
  if (nvm_scan_is(conversion, "diouxXbn")) {
    store->each = sizes.integer;
  } else if (nvm_scan_is(conversion, "aAeEfFgG")) {
    store->each = sizes.real;
  } else if (conversion == 'p') {
    store->each = sizeof(void *);
  } else if (is_string || nvm_scan_is(conversion, "cC")) {
    store->characters = width || is_string ? width : 1;
    store->each = is_wide ? NVM_SCAN_WIDE : format_character == 1 ? 1 : NVM_SCAN_MULTIBYTE_MAX;
    store->end = !is_string ? 0 : is_wide ? NVM_SCAN_WIDE : 1;
  } else {
    return false;
  }
  return true;
}

enum nvm_scan_found { NVM_SCAN_STORE, NVM_SCAN_NOTHING, NVM_SCAN_END };

/* One conversion, behind its %. */
static inline enum nvm_scan_found nvm_scan_conversion(struct nvm_scan *scan,
                                                      struct nvm_scan_store *store) {
  size_t width = nvm_scan_number(scan), position = 0;
  bool is_suppressed = false;
  if (width && nvm_scan_accept(scan, '$')) {
    position = width;
    width = 0;
  }
  if (!width) {
    for (; nvm_scan_is(nvm_scan_here(scan), "*'I"); nvm_scan_take(scan))
      is_suppressed |= nvm_scan_here(scan) == '*';
    width = nvm_scan_number(scan);
  }
  bool allocates = nvm_scan_allocates(scan);
  struct nvm_scan_sizes sizes = nvm_scan_length(scan);
  uint32_t conversion = nvm_scan_take(scan);
  if (conversion == '%')
    return NVM_SCAN_NOTHING;
  if ((conversion == '[' && !nvm_scan_set(scan)) ||
      !nvm_scan_amount(store, conversion, width, sizes, scan->character))
    return NVM_SCAN_END;
  if (is_suppressed)
    return NVM_SCAN_NOTHING;
  if (allocates) {
    store->characters = 1;
    store->each = sizeof(void *);
    store->end = 0;
  }
  store->argument = position ? (unsigned)position - 1 : scan->next++;
  return NVM_SCAN_STORE;
}

/* The next conversion that stores; false at the end of the format. */
static inline bool nvm_scan_next(struct nvm_scan *scan, struct nvm_scan_store *store) {
  uint32_t found;
  while ((found = nvm_scan_take(scan)) != 0) {
    enum nvm_scan_found what = found == '%' ? nvm_scan_conversion(scan, store) : NVM_SCAN_NOTHING;
    if (what != NVM_SCAN_NOTHING)
      return what == NVM_SCAN_STORE;
  }
  return false;
}

#endif
