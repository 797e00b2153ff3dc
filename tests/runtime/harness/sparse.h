/* sparse.h: large files, most of whose pages are zero and were never stored to: only the others are
 * read, written and looked at. */
#pragma once

#include <stdint.h>

enum { SPARSE_PAGE = 4096 };

/* Bytes of the file. The pages that it has go to `to`, which is zero, and are marked. */
uint64_t sparse_read(const char *path, char *to, unsigned char *pages);
/* Marks the pages that the file has. */
void sparse_mark(const char *path, unsigned char *pages);
/* A file with the same content. */
void sparse_copy(const char *from, const char *to);
/* Makes a file of these bytes; those of pages that are not marked are zero. */
void sparse_write(const char *path, const char *bytes, uint64_t size, const unsigned char *pages);
