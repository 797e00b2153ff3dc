/* trace.c: NVMOVE_TRACE=FILE: writes down what the first pool's file goes through.
 *
 * Three sources. The table of persist functions is wrapped: every flush, streamed line and fence is
 * recorded with the bytes it carries, so the trace has what the runtime itself stores, creation and
 * recovery included. Code compiled with --nvmove-trace tells of each store behind it, with its
 * place in the source, and of calls (trace_calls.c). And the program's view is compared with a copy
 * that only learns from the trace (trace_view.c).
 *
 * Records are written under a lock, into the file at once (trace_file.c). What a signal handler
 * does while its thread is in here waits until the thread is out. A child of fork traces nothing. A
 * pool that is closed and opened again is traced on; what happened to its file in between, also by
 * an opening that failed, is found by a copy of it.
 */
#define _GNU_SOURCE
#include "trace/trace.h"

#include "trace/trace_calls.h"
#include "trace/trace_file.h"
#include "trace/trace_persist.h"
#include "trace/trace_points.h"
#include "trace/trace_program.h"
#include "trace/trace_shared.h"
#include "trace/trace_state.h"
#include "trace/trace_view.h"

#include "base/settings.h"
#include "core/thread.h"
#include "heap/heap.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = NVMI_TRACE_PAGE, NO_THREAD = 0, AROUND = 512, THREADS_MAX = UINT16_MAX };

struct nvmi_trace nvmi_trace_state;

static struct nvmi_mutex *const lock = &nvmi_locks[NVMI_LOCK_TRACE];
static bool started; /* there is a trace, whether or not its pool is open */
static uint8_t id[sizeof((struct nvm_header *)0)->id]; /* of the pool */
static char *closed;                                   /* the file as it was when it was closed */
static uint64_t closed_size;
static unsigned threads;
static _Thread_local struct nvmi_tracer *own;

#define trace nvmi_trace_state

static void find_stack(struct nvmi_tracer *self) {
  pthread_attr_t attributes;
  void *stack = NULL;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &stack, &size);
    pthread_attr_destroy(&attributes);
  }
  self->stack = (uintptr_t)stack;
  self->stack_end = self->stack + size;
}

/* A thread that starts takes over what one that ended has left. */
struct nvmi_tracer *nvmi_trace_self(void) {
  if (own)
    return own;
  nvmi_lock(lock);
  struct nvmi_tracer *found = trace.tracers;
  while (found && found->used)
    found = found->next;
  if (!found) {
    found = nvmi_trace_reserve(sizeof *found);
    found->noted = nvmi_trace_reserve(trace.span / 8);
    found->taken = nvmi_trace_reserve(trace.span / 8);
    found->next = trace.tracers;
    trace.tracers = found;
  }
  if (threads == THREADS_MAX)
    nvmi_die(NULL, "a trace of more than %d threads", THREADS_MAX);
  found->used = true;
  found->number = ++threads;
  own = found;
  nvmi_unlock(lock);
  find_stack(found);
  return found;
}

static void thread_ends(void) {
  if (!own)
    return;
  nvmi_lock(lock);
  own->used = false;
  nvmi_unlock(lock);
  own = NULL;
}

static void learn(uint64_t place, const void *bytes, size_t size) {
  if (!trace.pool->method->private_work && !trace.pool->method->store)
    memcpy(trace.view + place, bytes, size);
}

/* Code that nobody sees may have stored before this one: then it comes first. */
static void take_store(struct nvmi_tracer *self, const struct nvmi_told *told, uint64_t extra) {
  memcpy(trace.view + told->place, told->payload, told->size);
  nvmi_view_compare_around(self, told->place, AROUND, 0);
  nvmi_view_put_store(self, told, extra);
}

static void take(struct nvmi_tracer *self, const struct nvmi_told *told) {
  uint64_t extra = told->site ? nvmi_trace_point(told->site, told->callers) : told->extra;
  switch (told->kind) {
  case NVM_TRACE_STORE:
    take_store(self, told, extra);
    return;
  case NVM_TRACE_UNSEEN: /* perhaps */
    if (told->payload)
      nvmi_view_put_written(self, told, extra);
    else if (told->place == NVMI_ANYWHERE)
      nvmi_view_compare_heap(self, true, extra);
    else
      nvmi_view_compare_around(self, told->place, PAGE, extra);
    return;
  case NVM_TRACE_STREAM:
  case NVM_TRACE_FLUSH:
    nvmi_trace_put_pieces(self->number, told->kind, told->place, extra, told->payload, told->size);
    learn(told->place, told->payload, told->size);
    return;
  case NVM_TRACE_FREE: /* `extra` is taken: the site goes behind it */
    nvmi_trace_put(self->number, told->kind, told->place, told->extra, &extra,
                   told->site ? sizeof extra : 0);
    return;
  case NVM_TRACE_UNSAFE:
    nvmi_view_put_unsafe(self, told);
    return;
  case NVM_TRACE_NOTE:
    nvmi_view_note(self, told->place, told->extra);
    break;
  default:
    break;
  }
  nvmi_trace_put(self->number, told->kind, told->place, extra, told->payload, told->size);
  if (told->kind == NVM_TRACE_COMMIT || told->kind == NVM_TRACE_ABORT ||
      told->kind == NVM_TRACE_JOIN)
    nvmi_view_forget_notes(self);
}

/* More may come at any moment: the list is empty only when nothing came since the last was taken.
 */
static void take_late(struct nvmi_tracer *self) {
  unsigned taken = 0, expected;
  do {
    for (; taken < self->late_count; taken++)
      take(self, &self->late[taken].told);
    expected = taken;
  } while (!__atomic_compare_exchange_n(&self->late_count, &expected, 0, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED));
}

/* In a signal handler that came while its thread was in here. */
static void postpone(struct nvmi_tracer *self, const struct nvmi_told *told) {
  size_t at = 0;
  do {
    if (self->late_count == NVMI_LATE_MAX)
      nvmi_die(NULL, "a signal handler stores more than a trace can hold back");
    struct nvmi_late *late = &self->late[self->late_count];
    late->told = *told;
    late->told.callers = NULL;
    if (told->payload) {
      size_t left = told->size - at, size = left < NVMI_LATE_BYTES ? left : NVMI_LATE_BYTES;
      memcpy(late->bytes, told->payload + at, size);
      late->told.place = told->place + at;
      late->told.payload = late->bytes;
      late->told.size = size;
      at += size;
    }
    self->late_count++;
  } while (at < told->size);
}

static struct nvmi_tracer *enter(void) {
  struct nvmi_tracer *self = nvmi_trace_self();
  if (self->inside)
    return NULL;
  self->inside = 1;
  nvmi_compiler_barrier();
  nvmi_lock(lock);
  take_late(self);
  return self;
}

static void leave(struct nvmi_tracer *self) {
  take_late(self);
  nvmi_unlock(lock);
  nvmi_compiler_barrier();
  self->inside = 0;
}

void nvmi_trace_tell(const struct nvmi_told *told) {
  struct nvmi_tracer *self = enter();
  if (!self) {
    postpone(own, told);
    return;
  }
  if (nvmi_tracing)
    take(self, told);
  leave(self);
}

uint64_t nvmi_trace_offset(const void *address) {
  const struct nvm_pool *pool = trace.pool;
  uint64_t in_home = (uint64_t)((const char *)address - pool->home);
  return in_home < trace.span ? in_home : nvmi_offset(pool, address);
}

static void at_fork(void) {
  nvmi_tracing = started = false;
  trace.pool = NULL;
  nvmi_trace_file_forget();
}

/* A new file may have the number of one that is gone: the pool's own id tells. */
static bool is_same(const struct nvm_pool *pool) {
  struct stat status;
  return closed && fstat(pool->fd, &status) == 0 && status.st_dev == trace.device &&
         status.st_ino == trace.inode && pool->header.range == trace.span &&
         memcmp(pool->header.id, id, sizeof id) == 0;
}

/* The path, as it is for other processes, and which file. A pool that is made has its name later. */
static size_t name_pool(char name[PATH_MAX + 64], const char *path, const struct stat *status) {
  char folder[PATH_MAX] = "";
  bool is_whole = *path == '/' || !getcwd(folder, sizeof folder);
  int length = snprintf(name, PATH_MAX, "%s%s%s", folder, is_whole ? "" : "/", path);
  length = length < PATH_MAX ? length + 1 : PATH_MAX;
  return (size_t)length +
         (size_t)snprintf(name + length, 64, "%llu:%llu", (unsigned long long)status->st_dev,
                          (unsigned long long)status->st_ino) +
         1;
}

static void begin(struct nvm_pool *pool) {
  struct stat status = {0};
  fstat(pool->fd, &status);
  trace.device = status.st_dev;
  trace.inode = status.st_ino;
  trace.span = pool->header.range;
  memcpy(id, pool->header.id, sizeof id);
  trace.view = nvmi_trace_reserve(trace.span);
  nvmi_trace_image(pool->fd, pool->home, nvmi_file_size(&pool->header));
  nvmi_trace_start(nvmi_trace_flags(pool->method));
  char name[PATH_MAX + 64];
  nvmi_trace_put(NO_THREAD, NVM_TRACE_OPEN, nvmi_file_size(&pool->header),
                 (uint64_t)(uintptr_t)pool->work, name, name_pool(name, pool->path, &status));
  nvmi_trace_program();
  started = true;
  pthread_atfork(NULL, NULL, at_fork);
}

/* What somebody else changed in the meantime stands for good. */
static void begin_again(const struct nvm_pool *pool) {
  uint64_t size = nvmi_file_size(&pool->header);
  nvmi_trace_put(NO_THREAD, NVM_TRACE_REOPEN, size, (uint64_t)(uintptr_t)pool->work, NULL, 0);
  for (uint64_t at = 0; at < size; at += PAGE)
    if (at >= closed_size || memcmp(closed + at, pool->home + at, PAGE) != 0)
      nvmi_trace_put(NO_THREAD, NVM_TRACE_CHANGED, at, 0, pool->home + at, PAGE);
}

static void compare(const struct nvm_pool *pool);

static const struct nvmi_trace_table table = {.event = nvmi_traced_event,
                                              .alone = nvmi_traced_alone,
                                              .stored = nvmi_traced_stored,
                                              .release = nvmi_traced_release,
                                              .acquire = nvmi_traced_acquire,
                                              .compare = compare,
                                              .thread_ends = thread_ends};

static void follow(struct nvm_pool *pool) {
  trace.pool = pool;
  trace.real = pool->persist;
  nvmi_view_take();
  pool->persist = &nvmi_trace_persist;
  nvmi_trace_table = &table;
  nvmi_tracing = true;
}

bool nvmi_trace_is_raw(void) { return nvmi_raw_traces && nvmi_raw_traces(); }

void nvmi_trace_open(struct nvm_pool *pool) {
  const char *path = nvmi_setting("NVMOVE_TRACE");
  if (!path || pool->is_copy || nvmi_trace_is_raw())
    return;
  nvmi_lock(lock);
  if (started && !trace.pool && is_same(pool)) {
    begin_again(pool);
    follow(pool);
  } else if (started) {
    nvmi_trace_put(NO_THREAD, NVM_TRACE_OTHER, 0, 0, pool->path, strlen(pool->path) + 1);
  } else if (nvmi_trace_file_open(path)) {
    begin(pool);
    follow(pool);
  }
  nvmi_unlock(lock);
}

void nvmi_trace_opened(const struct nvm_pool *pool) {
  if (!nvmi_tracing || pool != trace.pool)
    return;
  /* Blocks are looked up under the trace's lock; who has the heap's waits for that. */
  nvmi_heap_read_all((struct nvm_pool *)pool);
  struct nvmi_tracer *self = enter();
  nvmi_view_take();
  nvmi_trace_put(self->number, NVM_TRACE_OPENED, nvmi_file_size(&pool->header), 0, NULL, 0);
  leave(self);
}

void nvmi_trace_drop(const struct nvm_pool *pool) {
  if (!nvmi_tracing || pool != trace.pool)
    return;
  nvmi_lock(lock);
  nvmi_tracing = false;
  trace.pool = NULL;
  if (closed) {
    nvmi_trace_put(NO_THREAD, NVM_TRACE_REFUSED, 0, 0, NULL, 0);
  } else {
    started = false;
    nvmi_trace_file_discard();
  }
  nvmi_unlock(lock);
}

void nvmi_trace_leave(const struct nvm_pool *pool) {
  if (!nvmi_tracing || pool != trace.pool)
    return;
  struct nvmi_tracer *self = enter();
  nvmi_view_compare_heap(self, true, 0);
  nvmi_trace_shared();
  nvmi_trace_put(self->number, NVM_TRACE_CLOSED, 0, 0, NULL, 0);
  leave(self);
}

void nvmi_trace_close(struct nvm_pool *pool) {
  if (!nvmi_tracing || pool != trace.pool)
    return;
  nvmi_trace_leave(pool);
  struct nvmi_tracer *self = enter();
  closed_size = nvmi_file_size(&pool->header);
  closed = closed ? closed : nvmi_trace_reserve(trace.span);
  for (uint64_t at = 0; at < closed_size; at += PAGE)
    if (memcmp(closed + at, pool->home + at, PAGE) != 0)
      memcpy(closed + at, pool->home + at, PAGE);
  nvmi_tracing = false;
  trace.pool = NULL;
  leave(self);
}

static void compare(const struct nvm_pool *pool) {
  struct nvmi_tracer *self = pool == trace.pool ? enter() : NULL;
  if (!self)
    return;
  nvmi_view_compare_heap(self, false, 0);
  leave(self);
}
