/* trace_outputs.h: how an output is told. Output: a call that succeeds, and by which another process can
 * learn of something.
 *
 * Instrumented code announces the call before it is made, with its place. Functions in front of the
 * C library's (the room outputs) know whether it succeeded, and tell of it then: with that place,
 * or as one of code that nothing instruments. In a program without them, or where something else
 * stands in front of the C library's (a sanitizer), the announcement itself is told.
 */
#pragma once

#include "trace/trace_state.h"

#include <sys/stat.h>
#include <sys/types.h>

enum {
  NVMI_NOWHERE = -1,    /* no descriptor */
  NVMI_UNDECIDED = -2,  /* in an announcement: only who makes the call knows whether it is one */
  NVMI_ANY_OFFSET = -1, /* nobody knows where in the file */
  NVMI_BEHIND = -2      /* what was written ends where the descriptor is */
};

struct nvmi_output {
  const void *frame;           /* of the function that makes it */
  const struct nvm_site *site; /* of the call; null: of code that nothing instruments */
  struct nvmi_callers callers; /* that led to the site, or to that function */
};

/* Whether the program is linked with these functions: null if not. */
__attribute__((weak)) bool nvmi_outputs_tell(void);

/* Takes the announcement, if there is one. */
void nvmi_trace_announced(struct nvmi_output *made);
/* The output that was announced is over, or was none. */
void nvmi_trace_announce_none(void);
/* Whether others can read what is written there. Not: memory devices, files without a name, those
 * that are temporary, a counter (eventfd) of a process without children, the pool. */
bool nvmi_trace_leaves(int descriptor);
/* Whether it is the file of the pool that is traced. */
bool nvmi_trace_is_pool(const struct stat *status);
/* Whether an output there is written down. errno stays. */
bool nvmi_trace_is_told(int descriptor);
/* It has succeeded. Into the pool's own file: `size` bytes at `at`. */
void nvmi_trace_output(const struct nvmi_output *made, int descriptor, int64_t at, size_t size);

/* A file whose name nobody knows yet (mkstemp); it is known from now on. */
void nvmi_trace_temporary(const struct stat *status, bool is_temporary);
bool nvmi_trace_is_temporary(const struct stat *status);
/* The process has a child. */
void nvmi_trace_forked(void);
