/* trace_parts.h: what the files of the trace share.
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
  char *view; /* of the program */
  /* Commits look at the heap in turns: the run where the next one goes on, and how far it is in
   * it. */
  uint64_t compared_run, compared_inside;
};
extern struct nvmi_trace nvmi_trace_state;

/* trace.c */
void nvmi_trace_tell(const struct nvmi_told *told);
/* The calling thread's. */
struct nvmi_tracer *nvmi_trace_self(void);
uint64_t nvmi_trace_offset(const void *address);

/* trace_calls.c: of the release, begin or commit that the thread is about to call. */
const struct nvm_site *nvmi_trace_next_site(const struct nvmi_callers **callers);
/* The same, or the last one that was taken. */
const struct nvm_site *nvmi_trace_this_site(const struct nvmi_callers **callers);
/* Of that one, or of the output that the thread has announced. */
struct nvmi_callers *nvmi_trace_next_callers(void);
/* Who called the function of the calling thread that has this frame. */
void nvmi_trace_find_callers(struct nvmi_callers *callers, const void *frame);

/* trace_outputs.c: the output that was announced is over, or was none. */
void nvmi_trace_announce_none(void);

/* trace_points.c: who called the function whose frame this is, in a stack with these ends. */
void nvmi_trace_callers(struct nvmi_callers *callers, const void *frame, uintptr_t stack,
                        uintptr_t stack_end);
/* The site of code that nothing instruments: only its callers say where it is. */
extern const struct nvm_site nvmi_trace_elsewhere;
/* With the lock: the number of a site together with its callers. */
uint64_t nvmi_trace_point(const struct nvm_site *site, const struct nvmi_callers *callers);

void *nvmi_trace_reserve(size_t size);

/* trace_shared.c, with the lock: what else the process shares with others, beside the files of pools. */
void nvmi_trace_shared(void);

/* trace_program.c, with the lock: what is known of the program when a trace begins. */
void nvmi_trace_program(void);

/* trace_file.c; all but the first with the lock */
/* False: another process has its trace there, and that now says that this one has a pool. */
bool nvmi_trace_file_open(const char *path);
/* Without the lock: whether what is written there is the trace. */
bool nvmi_trace_file_is(int descriptor);
bool nvmi_trace_file_is_open(void);
bool nvmi_trace_file_has(dev_t device, ino_t inode);
/* In a child of fork. */
void nvmi_trace_file_forget(void);
void nvmi_trace_file_discard(void);
/* The next stretch of the file that is no hole: to read a hole may fill it. False: none. */
bool nvmi_trace_data(int fd, uint64_t *from, uint64_t *end, uint64_t most);
/* The image of the file `from_fd`, which has these bytes where it is no hole. */
void nvmi_trace_image(int from_fd, const char *bytes, uint64_t size);
uint32_t nvmi_trace_flags(const struct nvmi_method *method);
void nvmi_trace_start(uint32_t flags);
void nvmi_trace_put(unsigned thread, enum nvm_trace_kind kind, uint64_t place, uint64_t extra,
                    const void *payload, size_t size);
void nvmi_trace_put_pieces(unsigned thread, enum nvm_trace_kind kind, uint64_t place,
                           uint64_t extra, const char *payload, size_t size);

/* trace_view.c; with the lock */
void nvmi_view_note(struct nvmi_tracer *self, uint64_t place, uint64_t size);
void nvmi_view_forget_notes(struct nvmi_tracer *self);
void nvmi_view_take(void);
/* Without the lock: the place is in no block, or its type says where a pointer in it points to;
 * none does of unions. */
bool nvmi_view_says_where(uint64_t place);
void nvmi_view_put_store(const struct nvmi_tracer *self, const struct nvmi_told *told,
                         uint64_t extra);
/* A pointer that does not commit, with what the type of its block says. */
void nvmi_view_put_unsafe(const struct nvmi_tracer *self, const struct nvmi_told *told);
/* Bytes that differ from the view: stored by a function with a note of this thread, by another
 * thread that will tell of it, or by nobody; then `site` is of the call that did it, or 0. */
void nvmi_view_compare(const struct nvmi_tracer *self, uint64_t from, uint64_t size, uint64_t site);
/* The aligned `size` bytes around a place that was just stored to, or that a call was given. */
void nvmi_view_compare_around(const struct nvmi_tracer *self, uint64_t place, uint64_t size,
                              uint64_t site);
/* Bytes that were written into the file, not by a store. */
void nvmi_view_put_written(const struct nvmi_tracer *self, const struct nvmi_told *told,
                           uint64_t site);
/* At the end of a transaction: what it noted, and a stretch of the rest; or all. */
void nvmi_view_compare_heap(const struct nvmi_tracer *self, bool whole, uint64_t site);

/* What the table of core/tracing.h holds. */
void nvmi_traced_event(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                       uint64_t extra);
void nvmi_traced_alone(enum nvm_trace_kind kind, uint64_t extra);
void nvmi_traced_stored(void *address, const void *bytes, size_t size);
void nvmi_traced_release(const void *lock);
void nvmi_traced_acquire(const void *lock);
