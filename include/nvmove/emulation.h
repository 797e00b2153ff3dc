/* emulation.h: for tools: what NVMOVE_EMULATE may say (docs/reference/emulation.md). */
#ifndef NVMOVE_EMULATION_H
#define NVMOVE_EMULATION_H

#ifdef __cplusplus
extern "C" {
#endif

/* What is wrong with it, as "pcm,write=600"; null: nothing. The text stays until the calling thread's
 * next call. */
const char *nvm_emulation_fault(const char *profile);

#ifdef __cplusplus
}
#endif

#endif
