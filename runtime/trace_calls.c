/* trace_calls.c: what code compiled with --nvmove-trace tells: stores, calls, output, and the
 * places of what comes next. */
#define _GNU_SOURCE
#include "trace_parts.h"

#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#define trace nvmi_trace_state

/* Of the release, begin or commit that the thread is about to call. */
static _Thread_local const struct nvm_site *next_site;

const struct nvm_site *nvmi_trace_next_site(void) {
  const struct nvm_site *site = next_site;
  next_site = NULL;
  return site;
}

void nvmi_trace_release(const void *mutex) {
  nvmi_trace_tell(&(struct nvmi_told){.kind = NVM_TRACE_RELEASE,
                                      .place = (uint64_t)(uintptr_t)mutex,
                                      .site = nvmi_trace_next_site()});
}

void nvmi_trace_acquire(const void *mutex) {
  nvmi_trace_tell(
      &(struct nvmi_told){.kind = NVM_TRACE_ACQUIRE, .place = (uint64_t)(uintptr_t)mutex});
}

void __nvm_trace_store(void *Address, size_t Size, const struct nvm_site *Site) {
  if (nvmi_tracing && Size && nvmi_pool_at(Address) == trace.pool)
    nvmi_trace_tell(&(struct nvmi_told){.kind = NVM_TRACE_STORE,
                                        .place = nvmi_trace_offset(Address),
                                        .site = Site,
                                        .payload = Address,
                                        .size = Size});
}

/* Where a type says what a pointer points to it is looked at when it commits (pointers.c). */
void __nvm_trace_pointer(void *Slot, void *Value, const struct nvm_site *Site) {
  if (!nvmi_tracing || !Value || nvmi_pool_at(Slot) != trace.pool || nvmi_pool_at(Value))
    return;
  uint64_t place = nvmi_trace_offset(Slot);
  if (!nvmi_view_says_where(place))
    nvmi_trace_tell(&(struct nvmi_told){.kind = NVM_TRACE_POINTER,
                                        .place = place,
                                        .site = Site,
                                        .payload = (const char *)&Value,
                                        .size = sizeof Value});
}

void nvmi_trace_stored(void *address, size_t size) {
  if (NVMI_UNLIKELY(nvmi_tracing))
    __nvm_trace_store(address, size, NULL);
}

void __nvm_trace_call(void *Address, const struct nvm_site *Site) {
  if (nvmi_tracing && nvmi_pool_at(Address) == trace.pool)
    nvmi_trace_tell(&(struct nvmi_told){
        .kind = NVM_TRACE_UNSEEN, .place = nvmi_trace_offset(Address), .site = Site});
}

/* A counter that wakes another thread (eventfd) is no file of any kind. */
void __nvm_trace_output(int Descriptor, const struct nvm_site *Site) {
  struct stat status;
  bool stays = Descriptor >= 0 && fstat(Descriptor, &status) == 0 && !(status.st_mode & S_IFMT);
  if (nvmi_tracing && !stays)
    nvmi_trace_tell(&(struct nvmi_told){
        .kind = NVM_TRACE_OUTPUT, .place = (uint64_t)(int64_t)Descriptor, .site = Site});
}

/* A stream without a descriptor writes to memory, and nobody knows where. */
static bool writes_to_memory(FILE *stream, const struct nvm_site *site) {
  bool does = stream && fileno(stream) < 0;
  if (does)
    nvmi_trace_tell(
        &(struct nvmi_told){.kind = NVM_TRACE_UNSEEN, .place = NVMI_ANYWHERE, .site = site});
  return does;
}

void __nvm_trace_flushed(void *Stream, const struct nvm_site *Site) {
  if (nvmi_tracing && !writes_to_memory(Stream, Site))
    __nvm_trace_output(-1, Site);
}

/* What a stream keeps in its buffer has not left; what it shows on a terminal, or where stderr
 * goes, is for people. */
void __nvm_trace_printed(void *Stream, const struct nvm_site *Site) {
  struct stat status, people;
  if (!nvmi_tracing || !Stream || __fpending(Stream) != 0 || writes_to_memory(Stream, Site) ||
      fstat(fileno(Stream), &status) != 0)
    return;
  bool is_for_people = fstat(STDERR_FILENO, &people) == 0 && people.st_dev == status.st_dev &&
                       people.st_ino == status.st_ino;
  if (!is_for_people && (S_ISSOCK(status.st_mode) || S_ISFIFO(status.st_mode)))
    __nvm_trace_output(fileno(Stream), Site);
}

void __nvm_trace_at(const struct nvm_site *Site) { next_site = Site; }
