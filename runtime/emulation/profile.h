/* profile.h: what is emulated: how long memory takes (nvmove/profiles.def), and by which model.
 *
 * Model. `worst`: the memory has no cache, and each store is a commit of its own: every access waits
 * for the memory, every store for its write-back and its commit as well (NVMOVE, section 4.2).
 * `cached`: what that model leaves out. Reads that hit a cache cost nothing, stores cost nothing until
 * they leave it, a line that several stores change is written back once, and a commit waits for all of
 * them. The truth lies in between.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum nvmi_model { NVMI_WORST, NVMI_CACHED };

struct nvmi_profile {
  char name[32];
  uint64_t read, write, clwb, commit; /* nanoseconds; the first three for each line */
  uint64_t bandwidth;                 /* megabytes a second, 0: not bounded */
  uint64_t cache;                     /* bytes of the modelled cache */
  enum nvmi_model model;
  bool is_virtual; /* time is counted, and nobody waits */
};

/* Reads "NAME", "NAME,SETTING=VALUE,..." or "SETTING=VALUE,...", with the settings read, write, clwb,
 * commit, bandwidth, cache (K, M or G behind it), model=worst|cached, and the word virtual. False:
 * `fault` says what is wrong. */
bool nvmi_profile_read(const char *text, struct nvmi_profile *profile, char *fault, unsigned size);

/* Whether `text` says which memory, not only how it is emulated (model, cache, virtual). */
bool nvmi_profile_has_memory(const char *text);
