/* texts.c: see texts.h. */
#include "symbols/texts.h"

enum { TEXT_MAX = 4096 };

__attribute__((no_sanitize("address"))) const char *
nvmi_string_around(const char *at, const char *start, const char *end) {
  const char *first = at, *last = at;
  while (first > start && first[-1] && at - first < TEXT_MAX)
    first--;
  while (last < end && *last && last - first < TEXT_MAX)
    last++;
  return last < end && !*last ? first : NULL;
}

__attribute__((no_sanitize("address"))) size_t nvmi_text_length(const char *text) {
  size_t length = 0;
  while (text[length])
    length++;
  return length;
}

__attribute__((no_sanitize("address"))) size_t nvmi_text_copy(char *to, const char *text) {
  size_t length = 0;
  while ((to[length] = text[length]))
    length++;
  return length;
}

__attribute__((no_sanitize("address"))) bool nvmi_text_is(const char *text, const char *other) {
  while (*text && *text == *other)
    text++, other++;
  return *text == *other;
}

/* Not memmem: in programs built with AddressSanitizer that one aborts at the guards around each
 * constant. As fast, by looking for the first two bytes in sixteen places at once. */
typedef uint8_t lanes __attribute__((vector_size(16)));

__attribute__((no_sanitize("address"))) static bool may_start(const char *at, lanes first,
                                                              lanes second, size_t to_second) {
  lanes here, there;
  uint64_t halves[2];
  __builtin_memcpy(&here, at, sizeof here);
  __builtin_memcpy(&there, at + to_second, sizeof there);
  lanes both = (lanes)(here == first) & (lanes)(there == second);
  __builtin_memcpy(halves, &both, sizeof halves);
  return halves[0] | halves[1];
}

__attribute__((no_sanitize("address"))) const char *nvmi_find_bytes(const char *at, const char *end,
                                                                    const char *text, size_t size) {
  size_t to_second = size > 1;
  lanes none = {0}, first = none + (uint8_t)text[0], second = none + (uint8_t)text[to_second];
  while ((size_t)(end - at) >= size) {
    bool whole = (size_t)(end - at) >= sizeof first + to_second;
    size_t places = whole ? sizeof first : 1;
    if (whole && !may_start(at, first, second, to_second)) {
      at += places;
      continue;
    }
    for (; places-- && (size_t)(end - at) >= size; at++) {
      size_t same = 0;
      while (same < size && at[same] == text[same])
        same++;
      if (same == size)
        return at;
    }
  }
  return NULL;
}
