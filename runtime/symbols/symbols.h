/* symbols.h: where in the running program an address lies, by names that survive a restart and a
 * rebuild; and where such a place lies now.
 *
 * Module: the program or one of its shared objects. Place: a function or object of a module's
 * symbol table, file-local ones included; a string constant, by its content, where nvmove-cc says
 * that it is one (abi_statics.h); or, where no name is left, an offset in one build of the module.
 */
#pragma once

#include "base/basics.h"

enum { NVMI_BUILD_ID = 32 };

struct nvmi_place {
  const char *module;              /* file name without folder; "": the program itself */
  uint8_t build_id[NVMI_BUILD_ID]; /* modules.h; of pools of old, 0: not known */
  uint64_t offset;                 /* of the address, as linked */
  const char *name;                /* of the symbol; "": none */
  const char *file;      /* that a file-local symbol was defined in; "": not local, or not known */
  uint64_t within, size; /* bytes from the symbol's start; of the symbol */
  const char *aliases;   /* other names of what lies there, each behind a line feed; null: none */
  const char *text;      /* of a string constant, from the place on; null: it is none */
  bool is_string;     /* and `within` bytes before it belong to it; else, of a pool of old, what it
                          * is was guessed */
  bool is_constant;   /* nobody can write there: code, constants */
  bool has_namesakes; /* in that build, of one file as far as can be seen */
  bool is_picked;     /* a variant of this function, picked for the processor: STT_GNU_IFUNC */
};

enum nvmi_found {
  NVMI_FOUND,
  NVMI_NOT_FOUND,
  NVMI_AMBIGUOUS, /* the module has several of that name */
  NVMI_RESIZED,   /* it has another size: what lies within it is not known to be where it was */
  NVMI_NAMESAKES, /* several modules have the name, none is the build that was noted */
  NVMI_COPIES     /* several modules are that build */
};

/* The place of an address of a loaded module. Names stay valid until the next call of a function
 * of this file. False: it lies in none, or memory ran out. */
bool nvmi_place_of(const void *address, struct nvmi_place *place);

/* Where a place lies in this process. */
enum nvmi_found nvmi_place_find(const struct nvmi_place *place, uint64_t *address);

/* The build of the module that an address lies in now. False: it lies in none. */
bool nvmi_build_at(uint64_t address, uint8_t build_id[NVMI_BUILD_ID]);

/* Whether a place lies at this address now, in that build of its module. */
bool nvmi_place_is_at(const struct nvmi_place *place, uint64_t address,
                      const uint8_t build_id[NVMI_BUILD_ID]);
