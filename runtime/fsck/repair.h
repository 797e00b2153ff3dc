/* repair.h: what the parts of a repair share (include/nvmove/repair.h).
 *
 * Image: the file in private memory, as long as the header says; `pool->home`. Each part looks for
 * its damage there and mends it there: what differs from the file afterwards is written, with the
 * bytes before kept (repair_copy.h). Mended, left: one line each for whoever asked. A part gives
 * false when what it left keeps the next from being looked at.
 */
#pragma once

#include "core/pool.h"
#include "types/block_map.h"
#include "types/words.h"

#include "nvmove/repair.h"

/* A large block whose word named no type of the table; meanwhile it says "without type". */
struct nvmi_typeless {
  uint32_t chunk;
  uint16_t type; /* that it named */
};

struct nvmi_repair {
  struct nvm_pool *pool;
  struct nvm_repair *how;
  uint64_t file_size; /* as it was found */
  unsigned mended, left;
  struct nvmi_array typeless; /* struct nvmi_typeless: from repair_heap.c to repair_blocks.c */
  bool spoils;                /* writing what was mended would hide what was left */
};

void nvmi_mended(struct nvmi_repair *repair, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void nvmi_left(struct nvmi_repair *repair, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What the runtime said last, without the path in front. */
const char *nvmi_said_of(const char *path);
/* With that. */
void nvmi_left_unread(struct nvmi_repair *repair);

/* The pool's file, locked. Null: recorded, also where NVMOVE_OPEN=copy keeps it from being written. */
struct nvm_pool *nvmi_repair_take(const char *path, bool writable);

/* repair_apply.c. Writes what differs between image and file, the old bytes kept in repair->copy.
 * -1: recorded; the file is as before, or what was recorded says that the next repair goes on. */
int nvmi_repair_write(struct nvmi_repair *repair);
/* Finishes a repair that was interrupted, when there is one; told as mended. A dry run is `*over` then:
 * what else is wrong is not known before. -1: it cannot be finished; recorded. */
int nvmi_repair_resume(struct nvmi_repair *repair, bool *over);

/* repair_header.c. Puts together pool->header from both copies, the file's size and the root. -1:
 * recorded: the file is no pool that could be mended. */
int nvmi_repair_header(struct nvmi_repair *repair);
/* Has the image's header copies say what pool->header does. */
void nvmi_repair_put_header(struct nvmi_repair *repair);

/* repair_logs.c: header.state decides: of a closed pool nothing in a log counts. */
bool nvmi_repair_logs(struct nvmi_repair *repair);
/* The log is read and done with, as opening does it. */
bool nvmi_repair_recover(struct nvmi_repair *repair);
/* repair_statics.c: the chain of tables of static data; their runs are sound. */
bool nvmi_repair_statics(struct nvmi_repair *repair);

/* repair_types.c */
bool nvmi_repair_types(struct nvmi_repair *repair);

/* repair_heap.c: the words of runs, then the types of blocks, then the root. */
bool nvmi_repair_heap(struct nvmi_repair *repair);
/* repair_class.c: then spans whose class is another's; all words of runs make sense. */
bool nvmi_repair_classes(struct nvmi_repair *repair);
/* Words between the end of a span's table and its first block that are not zero: such a table is
 * perhaps that of another class. */
unsigned nvmi_words_behind(const struct nvm_pool *pool, uint32_t chunk, uint32_t class);
/* repair_blocks.c. The types of blocks; false: the heap's table still says what makes no sense. */
bool nvmi_repair_blocks(struct nvmi_repair *repair);
void nvmi_repair_root(struct nvmi_repair *repair);

/* repair_bytes.c: does `holds` become true when one byte of `bytes` is changed? Leaves it so and
 * gives its place; -1: no byte is that; `bytes` are as they were. */
typedef bool nvmi_holds(void *context);
long long nvmi_mend_byte(void *bytes, size_t size, nvmi_holds *holds, void *context);
/* How many bytes of two words differ. */
unsigned nvmi_bytes_changed(uint64_t a, uint64_t b);

/* repair_survey.c: where the pointers lead that the root leads to, by the types of the blocks, in
 * an image whose tables may have faults: `map` says which runs count. */
struct nvmi_survey {
  struct nvmi_repair *repair;
  struct nvmi_block_map map;
  struct nvmi_array stack; /* uint64_t: file offsets */
  uint64_t *marks;         /* a bit for every 16 bytes of the heap */
  uint32_t unmapped;       /* chunks from `end` on: a fault lies there */
  uint64_t end;            /* in the file */
  uint64_t astray;         /* pointers that lead to nothing */
  uint64_t inside;         /* that lead into blocks, and not to where they start */
  uint64_t loose;          /* words that nobody decides, and that do the one or the other */
  /* Of pointers and such words, those that lead to these bytes of the file. */
  uint64_t from, to;
  uint64_t led;      /* all */
  uint64_t starts;   /* to where a block starts */
  uint64_t given_up; /* to no block */
  bool hidden;       /* a pointer that cannot be followed; or memory ran out */
  /* Of each pointer that leads to where a block starts; or null. */
  void (*arrive)(void *context, uint64_t offset, uint64_t target);
  void *context;
};
/* Makes the map of all runs, or of those up to the first fault and from `resume` on. False: out of
 * memory, told as left. */
bool nvmi_survey_make(struct nvmi_survey *survey, struct nvmi_repair *repair, uint32_t resume);
void nvmi_survey_run(struct nvmi_survey *survey);
void nvmi_survey_free(struct nvmi_survey *survey);
