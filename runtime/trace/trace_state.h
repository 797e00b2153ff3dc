/* trace_state.h: what the files of the trace share.
 *
 * Tracer: a thread as the trace knows it. Told: an event on its way into the file. Late: one of a
 * signal handler that interrupted its thread inside the trace, waiting until that is out. View: the
 * program's memory as the trace knows it, by offset in the file.
 */
#pragma once

#include "core/map.h"
#include "trace/trace.h"

#include <sys/types.h>

enum { NVMI_TRACE_PAGE = 4096, NVMI_CALLERS_MAX = 48 };

/* Whether the program was compiled with --nvmove-trace=raw: then raw/raw.c writes the trace. */
__attribute__((weak)) bool nvmi_raw_traces(void);

#define NVMI_ANYWHERE UINT64_MAX /* the place of a perhaps unseen store */

/* Return addresses, the innermost first; of one that calls itself once. */
struct nvmi_callers {
  unsigned count;
  uintptr_t address[NVMI_CALLERS_MAX];
};

struct nvmi_told {
  enum nvm_trace_kind kind;
  uint64_t place, extra;
  const struct nvm_site *site;        /* whose number becomes `extra`, or null */
  const struct nvmi_callers *callers; /* that led to the site, or null */
  const char *payload;
  size_t size;
};

enum { NVMI_LATE_MAX = 128, NVMI_LATE_BYTES = 64, NVMI_NOTED_MAX = 256 };

struct nvmi_late {
  struct nvmi_told told; /* payload: null, or `bytes` */
  char bytes[NVMI_LATE_BYTES];
};

struct nvmi_tracer {
  struct nvmi_tracer *next; /* of all that were made */
  bool used;                /* by a thread that lives */
  unsigned number;
  uintptr_t stack, stack_end; /* of the thread */
  volatile int inside;
  volatile unsigned late_count;
  unsigned noted_count; /* above NVMI_NOTED_MAX: some are not in the list */
  struct {
    uint64_t place, size;
  } noted_ranges[NVMI_NOTED_MAX];
  uint64_t *noted; /* bit for each byte: noted in the thread's open transaction */
  uint64_t *taken; /* of those: noted by another thread since */
  struct nvmi_late late[NVMI_LATE_MAX];
};

struct nvmi_trace {
  const struct nvm_pool *pool; /* that is open, or null */
  dev_t device;                /* of its file */
  ino_t inode;
  const struct nvmi_persist *real;
  struct nvmi_tracer *tracers;
  char *view;    /* of the program */
  uint64_t span; /* bytes from the pool's start that are traced */
  /* Commits look at the heap in turns: the run where the next one goes on, and how far it is in
   * it. */
  uint64_t compared_run, compared_inside;
};
extern struct nvmi_trace nvmi_trace_state;
