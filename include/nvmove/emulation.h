/* emulation.h: for tools: what NVMOVE_EMULATE may say, and what NVMOVE_EMULATE_COUNTS gets
 * (docs/reference/emulation.md). */
#ifndef NVMOVE_EMULATION_H
#define NVMOVE_EMULATION_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is wrong with it, as "pcm,write=600"; null: nothing. The text stays until the calling thread's
 * next call. */
const char *nvm_emulation_fault(const char *profile);

/* The file of counts is an array of these, some of them empty, and some with the same types. Each thread counts in its
 * own parts of the file, which are mapped: so the counts are there however the process ends. Of names that are too long
 * together the first ones are there. */
struct nvm_counted {
  char types[488]; /* names, with commas between them, and a 0; empty: counts nothing */
  uint64_t loads, stores, nanoseconds;
};

#ifdef __cplusplus
}
#endif

#endif
