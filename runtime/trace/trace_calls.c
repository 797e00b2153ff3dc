/* trace_calls.c: what code compiled with --nvmove-trace tells: stores, calls, output, and the
 * places of what comes next. Each entry looks who called the code that called it. */
#define _GNU_SOURCE
#include "trace/trace_parts.h"

#include <errno.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#define trace nvmi_trace_state

static _Thread_local const struct nvm_site *next_site, *this_site;
static _Thread_local struct nvmi_callers next_callers;

const struct nvm_site *nvmi_trace_next_site(const struct nvmi_callers **callers) {
  this_site = next_site;
  next_site = NULL;
  *callers = &next_callers;
  return this_site;
}

const struct nvm_site *nvmi_trace_this_site(const struct nvmi_callers **callers) {
  return next_site ? nvmi_trace_next_site(callers) : (*callers = &next_callers, this_site);
}

void nvmi_traced_release(const void *mutex) {
  struct nvmi_told told = {.kind = NVM_TRACE_RELEASE, .place = (uint64_t)(uintptr_t)mutex};
  told.site = nvmi_trace_next_site(&told.callers);
  nvmi_trace_tell(&told);
}

void nvmi_traced_acquire(const void *mutex) {
  nvmi_trace_tell(
      &(struct nvmi_told){.kind = NVM_TRACE_ACQUIRE, .place = (uint64_t)(uintptr_t)mutex});
}

static void find_callers(struct nvmi_callers *callers, const void *frame) {
  const struct nvmi_tracer *self = nvmi_trace_self();
  nvmi_trace_callers(callers, frame, self->stack, self->stack_end);
}

/* `frame`: of the entry that the program called. */
static void tell_from(const void *frame, struct nvmi_told told) {
  struct nvmi_callers callers;
  if (told.site) {
    find_callers(&callers, frame);
    told.callers = &callers;
  }
  nvmi_trace_tell(&told);
}

#define TELL(...) tell_from(__builtin_frame_address(0), (struct nvmi_told){__VA_ARGS__})

void __nvm_trace_store(void *Address, size_t Size, const struct nvm_site *Site) {
  if (nvmi_tracing && Size && nvmi_pool_at(Address) == trace.pool)
    TELL(.kind = NVM_TRACE_STORE, .place = nvmi_trace_offset(Address), .site = Site,
         .payload = Address, .size = Size);
}

/* Where a type says what a pointer points to it is looked at when it commits (pointers.c). */
void __nvm_trace_pointer(void *Slot, void *Value, const struct nvm_site *Site) {
  if (!nvmi_tracing || !Value || nvmi_pool_at(Slot) != trace.pool || nvmi_pool_at(Value))
    return;
  uint64_t place = nvmi_trace_offset(Slot);
  if (!nvmi_view_says_where(place))
    TELL(.kind = NVM_TRACE_POINTER, .place = place, .site = Site, .payload = (const char *)&Value,
         .size = sizeof Value);
}

void nvmi_traced_stored(void *address, size_t size) {
  if (NVMI_UNLIKELY(nvmi_tracing))
    __nvm_trace_store(address, size, NULL);
}

void __nvm_trace_call(void *Address, const struct nvm_site *Site) {
  if (nvmi_tracing && nvmi_pool_at(Address) == trace.pool)
    TELL(.kind = NVM_TRACE_UNSEEN, .place = nvmi_trace_offset(Address), .site = Site);
}

void __nvm_trace_flush(void *Address, const struct nvm_site *Site) {
  if (nvmi_tracing && nvmi_pool_at(Address) == trace.pool)
    TELL(.kind = NVM_TRACE_ASKED, .place = nvmi_trace_offset(Address), .site = Site);
}

/* A counter that wakes another thread (eventfd) is no file of any kind. */
static bool stays_inside(int descriptor) {
  struct stat status;
  return descriptor >= 0 && fstat(descriptor, &status) == 0 && !(status.st_mode & S_IFMT);
}

/* Where the thread has told of an output that the call behind it makes. */
static _Thread_local uintptr_t told_at;

void nvmi_traced_output(int descriptor, const void *frame) {
  enum { NEAR = 256 }; /* bytes of code, between the call that tells and the one that is told of */
  uintptr_t told = told_at;
  struct nvmi_callers callers;
  told_at = 0;
  if (!nvmi_tracing || nvmi_trace_file_is(descriptor))
    return;
  int before = errno;
  find_callers(&callers, frame);
  bool is_known = told && callers.count && callers.address[0] - told < NEAR;
  if (!is_known && !stays_inside(descriptor))
    nvmi_trace_tell(&(struct nvmi_told){.kind = NVM_TRACE_OUTPUT,
                                        .place = (uint64_t)(int64_t)descriptor,
                                        .site = &nvmi_trace_elsewhere,
                                        .callers = &callers});
  errno = before;
}

void __nvm_trace_output(int Descriptor, const struct nvm_site *Site) {
  told_at = (uintptr_t)__builtin_return_address(0);
  if (nvmi_tracing && !stays_inside(Descriptor))
    TELL(.kind = NVM_TRACE_OUTPUT, .place = (uint64_t)(int64_t)Descriptor, .site = Site);
}

/* One without a descriptor: nobody knows where. */
static bool writes_to_memory(FILE *stream) { return stream && fileno(stream) < 0; }

void __nvm_trace_flushed(void *Stream, const struct nvm_site *Site) {
  if (!nvmi_tracing)
    return;
  if (writes_to_memory(Stream))
    TELL(.kind = NVM_TRACE_UNSEEN, .place = NVMI_ANYWHERE, .site = Site);
  else
    TELL(.kind = NVM_TRACE_OUTPUT, .place = UINT64_MAX, .site = Site);
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
void __nvm_trace_printed(void *Stream, const struct nvm_site *Site) {
  if (!nvmi_tracing || !Stream || __fpending(Stream) != 0)
    return;
  if (writes_to_memory(Stream))
    TELL(.kind = NVM_TRACE_UNSEEN, .place = NVMI_ANYWHERE, .site = Site);
  else if (leaves(Stream))
    TELL(.kind = NVM_TRACE_OUTPUT, .place = (uint64_t)fileno(Stream), .site = Site);
}

/* Its frame has to be there until its callers are found: no jump to what finds them. */
__attribute__((disable_tail_calls)) void __nvm_trace_at(const struct nvm_site *Site) {
  next_site = Site;
  next_callers.count = 0;
  if (Site && nvmi_tracing)
    find_callers(&next_callers, __builtin_frame_address(0));
}
