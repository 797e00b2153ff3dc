/* trace_outputs.c: outputs: see trace_outputs.h. */
#define _GNU_SOURCE
#include "trace/trace_outputs.h"

#include "trace/trace.h"
#include "trace/trace_calls.h"
#include "trace/trace_file.h"
#include "trace/trace_points.h"
#include "trace/trace_state.h"

#include "base/own_files.h"
#include "base/uncancelled.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define trace nvmi_trace_state

static _Thread_local const struct nvm_site *announced; /* its callers: trace_calls.c */
static _Thread_local int announced_descriptor;
static atomic_bool has_children;

void nvmi_trace_forked(void) { has_children = true; }

/* Temporary files, as hashes: that another one has the same is as good as impossible. The oldest
 * makes room. */
enum { TEMPORARY_MAX = 64 };
static _Atomic(uint64_t) temporary[TEMPORARY_MAX];
static atomic_uint temporary_next;

static uint64_t hash_of(const struct stat *status) {
  return (status->st_ino ^ status->st_dev << 40) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

bool nvmi_trace_is_temporary(const struct stat *status) {
  for (unsigned i = 0; i < TEMPORARY_MAX; i++)
    if (temporary[i] == hash_of(status))
      return true;
  return false;
}

void nvmi_trace_temporary(const struct stat *status, bool is_temporary) {
  for (unsigned i = 0; i < TEMPORARY_MAX; i++)
    if (temporary[i] == hash_of(status))
      temporary[i] = 0; /* the number of a file that is no longer, perhaps */
  if (is_temporary)
    temporary[temporary_next++ % TEMPORARY_MAX] = hash_of(status);
}

/* /dev/null, zero, full, random and urandom. But stdout counts wherever it goes: `nvmove crash -q`
 * sends it there. */
static bool keeps_nothing(dev_t device) {
  enum { MEMORY_DEVICES = 1, FIRST = 3, LAST = 9 };
  return major(device) == MEMORY_DEVICES && minor(device) >= FIRST && minor(device) <= LAST;
}

bool nvmi_trace_is_pool(const struct stat *status) {
  return trace.pool && status->st_dev == trace.device && status->st_ino == trace.inode;
}

/* A pipe without a name that this process reads, too: it wakes another thread. Asked in signal
 * handlers as well. */
static bool is_read_here(int descriptor, const struct stat *pipe) {
  enum { DESCRIPTORS = 1024 }; /* that are looked at */
  char link[32], name[8] = "";
  struct stat status;
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  if (readlink(link, name, sizeof name) < 5 || strncmp(name, "pipe:", 5) != 0)
    return false;
  for (int end = 0; end < DESCRIPTORS; end++)
    if (fstat(end, &status) == 0 && status.st_ino == pipe->st_ino &&
        status.st_dev == pipe->st_dev &&
        (NVMI_UNCANCELLED(fcntl(end, F_GETFL)) & O_ACCMODE) != O_WRONLY)
      return true;
  return false;
}

static bool may_leave(int descriptor, const struct stat *status) {
  switch (status->st_mode & S_IFMT) {
  case 0: /* a counter (eventfd): it wakes another thread, or a child's */
    return has_children;
  case S_IFIFO:
    return has_children || !is_read_here(descriptor, status);
  case S_IFREG:
    return status->st_nlink && !nvmi_trace_is_temporary(status) && !nvmi_trace_is_pool(status) &&
           !nvmi_own_file_is(descriptor, status) && !nvmi_trace_file_is(descriptor);
  case S_IFCHR:
    return descriptor == STDOUT_FILENO || !keeps_nothing(status->st_rdev);
  default:
    return true;
  }
}

bool nvmi_trace_leaves(int descriptor) {
  struct stat status;
  return fstat(descriptor, &status) == 0 && may_leave(descriptor, &status);
}

static void tell(const struct nvmi_output *made, int descriptor) {
  nvmi_trace_tell(&(struct nvmi_told){.kind = NVM_TRACE_OUTPUT,
                                      .place = (uint64_t)(int64_t)descriptor,
                                      .site = made->site ? made->site : &nvmi_trace_elsewhere,
                                      .callers = &made->callers});
}

/* No output: the pool's bytes have changed, and no store did it. */
static void tell_of_pool(const struct nvmi_output *made, int descriptor, int64_t at, size_t size) {
  uint64_t end = nvmi_file_size(&trace.pool->header);
  if (at == NVMI_BEHIND)
    at = lseek(descriptor, 0, SEEK_CUR) - (int64_t)size;
  bool is_known = at >= 0 && (uint64_t)at < end;
  if (is_known && size > end - (uint64_t)at)
    size = end - (uint64_t)at;
  nvmi_trace_tell(&(struct nvmi_told){.kind = NVM_TRACE_UNSEEN,
                                      .place = is_known ? (uint64_t)at : NVMI_ANYWHERE,
                                      .site = made->site ? made->site : &nvmi_trace_elsewhere,
                                      .callers = &made->callers,
                                      .payload = is_known ? trace.pool->home + at : NULL,
                                      .size = is_known ? size : 0});
}

bool nvmi_trace_is_told(int descriptor) {
  struct stat status;
  int before = errno;
  bool is_told =
      descriptor < 0 || (fstat(descriptor, &status) == 0 &&
                         (may_leave(descriptor, &status) ||
                          (nvmi_trace_is_pool(&status) && !nvmi_own_file_is(descriptor, &status))));
  errno = before;
  return is_told;
}

void nvmi_trace_output(const struct nvmi_output *made, int descriptor, int64_t at, size_t size) {
  int before = errno;
  if (!nvmi_tracing || !nvmi_trace_is_told(descriptor))
    return;
  if (descriptor < 0 || nvmi_trace_leaves(descriptor))
    tell(made, descriptor);
  else
    tell_of_pool(made, descriptor, at, size);
  errno = before;
}

void nvmi_trace_announced(struct nvmi_output *made) {
  const struct nvmi_callers *callers = nvmi_trace_next_callers();
  made->site = announced;
  made->callers.count = announced ? callers->count : 0;
  for (unsigned i = 0; i < made->callers.count; i++)
    made->callers.address[i] = callers->address[i];
  announced = NULL;
}

/* Nobody has taken it: something else stands in front of the C library's function. */
static void tell_announced(void) {
  struct nvmi_output made;
  nvmi_trace_announced(&made);
  if (announced_descriptor != NVMI_UNDECIDED)
    nvmi_trace_output(&made, announced_descriptor, NVMI_ANY_OFFSET, 0);
}

void nvmi_trace_announce_none(void) {
  if (announced)
    tell_announced();
}

void __nvm_trace_output(int Descriptor, const struct nvm_site *Site) {
  nvmi_trace_announce_none();
  if (!nvmi_tracing)
    return;
  nvmi_trace_find_callers(nvmi_trace_next_callers(), __builtin_frame_address(0));
  announced = Site;
  announced_descriptor = Descriptor;
  if (!nvmi_outputs_tell)
    tell_announced();
}

/* One without a descriptor: nobody knows where. */
static bool writes_to_memory(FILE *stream) { return stream && fileno(stream) < 0; }

static void tell_of_stream(enum nvm_trace_kind kind, uint64_t place, const struct nvm_site *site,
                           const void *frame) {
  struct nvmi_callers callers;
  nvmi_trace_find_callers(&callers, frame);
  nvmi_trace_tell(
      &(struct nvmi_told){.kind = kind, .place = place, .site = site, .callers = &callers});
}

/* From a frame that has to be there: no jump. */
#define WITH_FRAME __attribute__((disable_tail_calls))
#define TELL(kind, place) tell_of_stream(kind, place, Site, __builtin_frame_address(0))

WITH_FRAME void __nvm_trace_flushed(void *Stream, const struct nvm_site *Site) {
  if (!nvmi_tracing)
    return;
  if (writes_to_memory(Stream))
    TELL(NVM_TRACE_UNSEEN, NVMI_ANYWHERE);
  else if ((announced || !nvmi_outputs_tell) && (!Stream || nvmi_trace_leaves(fileno(Stream))))
    TELL(NVM_TRACE_OUTPUT, UINT64_MAX);
}

/* What it shows on a terminal, or where stderr goes, is for people. */
static bool leaves(FILE *stream) {
  struct stat status, people;
  if (fstat(fileno(stream), &status) != 0)
    return false;
  bool is_for_people = fstat(STDERR_FILENO, &people) == 0 && people.st_dev == status.st_dev &&
                       people.st_ino == status.st_ino;
  return !is_for_people && (S_ISSOCK(status.st_mode) || S_ISFIFO(status.st_mode));
}

/* What a stream keeps in its buffer has not left. */
WITH_FRAME void __nvm_trace_printed(void *Stream, const struct nvm_site *Site) {
  if (!nvmi_tracing || !Stream || __fpending(Stream) != 0)
    return;
  if (writes_to_memory(Stream))
    TELL(NVM_TRACE_UNSEEN, NVMI_ANYWHERE);
  else if (leaves(Stream))
    TELL(NVM_TRACE_OUTPUT, (uint64_t)fileno(Stream));
}
