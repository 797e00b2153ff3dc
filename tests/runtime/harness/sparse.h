/* sparse.h: large files, most of whose pages are zero and were never stored to: only the others are
 * read, written and looked at. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { SPARSE_PAGE = 4096 };

/* In place of memcmp, whose sanitizer looks at each byte first. */
static inline bool sparse_equal(const char *one, const char *other, uint64_t size) {
  enum { WORDS = 8 };
  uint64_t at = 0, differ = 0, a[WORDS], b[WORDS];
  for (; at + sizeof a <= size && !differ; at += sizeof a) {
    memcpy(a, one + at, sizeof a);
    memcpy(b, other + at, sizeof b);
    for (unsigned i = 0; i < WORDS; i++)
      differ |= a[i] ^ b[i];
  }
  for (; at < size && !differ; at++)
    differ = (uint64_t)(one[at] ^ other[at]);
  return !differ;
}

/* Bytes of the file. The pages that it has go to `to`, which is zero, and are marked. */
uint64_t sparse_read(const char *path, char *to, unsigned char *pages);
/* Marks the pages that the file has. */
void sparse_mark(const char *path, unsigned char *pages);
/* A file with the same content. */
void sparse_copy(const char *from, const char *to);
/* Makes a file of these bytes; those of pages that are not marked are zero. */
void sparse_write(const char *path, const char *bytes, uint64_t size, const unsigned char *pages);
