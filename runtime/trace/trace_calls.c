/* trace_calls.c: what code compiled with --nvmove-trace tells: stores, calls, and the places
 * of what comes next. Each entry looks who called the code that called it. */
#define _GNU_SOURCE
#include "trace/trace_calls.h"

#include "core/thread.h"
#include "trace/trace.h"
#include "trace/trace_outputs.h"
#include "trace/trace_points.h"
#include "trace/trace_state.h"
#include "trace/trace_view.h"

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

struct nvmi_callers *nvmi_trace_next_callers(void) { return &next_callers; }

/* `extra`: the pools (bits) that a transaction has changed, which is about to commit. The site
 * stays: the commit has it, too. */
static bool take_several(struct nvmi_told *told) {
  const struct nvm_pool *pool = trace.pool;
  bool is_traced = pool && told->extra >> pool->index & 1;
  told->place = NVM_TRACE_OTHER_TOGETHER;
  told->extra = 0;
  told->site = next_site;
  told->callers = &next_callers;
  return is_traced;
}

void nvmi_traced_alone(enum nvm_trace_kind kind, uint64_t extra) {
  struct nvmi_told told = {.kind = kind, .extra = extra};
  if (!nvmi_tracing)
    return;
  if (kind == NVM_TRACE_BEGIN)
    told.site = nvmi_trace_next_site(&told.callers);
  if (kind == NVM_TRACE_OTHER && !take_several(&told))
    return;
  if (kind == NVM_TRACE_FAILED)
    told = (struct nvmi_told){.kind = kind, .place = extra};
  if (kind == NVM_TRACE_FAILED || kind == NVM_TRACE_HANDLER)
    told.site = nvmi_trace_this_site(&told.callers);
  nvmi_trace_tell(&told);
}

void nvmi_traced_event(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                       uint64_t extra) {
  struct nvmi_told told = {.kind = kind, .place = place, .extra = extra};
  if (pool != trace.pool)
    return;
  if (kind == NVM_TRACE_COMMITTING || kind == NVM_TRACE_ABORT || kind == NVM_TRACE_FREE)
    told.site = nvmi_trace_next_site(&told.callers);
  nvmi_trace_tell(&told);
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

void nvmi_trace_find_callers(struct nvmi_callers *callers, const void *frame) {
  const struct nvmi_tracer *self = nvmi_trace_self();
  nvmi_trace_callers(callers, frame, self->stack, self->stack_end);
}

/* `frame`: of the entry that the program called. */
static void tell_from(const void *frame, struct nvmi_told told) {
  struct nvmi_callers callers;
  if (told.site) {
    nvmi_trace_find_callers(&callers, frame);
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

void nvmi_traced_stored(void *address, const void *bytes, size_t size, bool by_program) {
  if (!nvmi_tracing || !size || nvmi_pool_at(address) != trace.pool)
    return;
  struct nvmi_told told = {
      .kind = NVM_TRACE_STORE, .place = nvmi_trace_offset(address), .payload = bytes, .size = size};
  if (by_program)
    told.site = nvmi_trace_next_site(&told.callers);
  nvmi_trace_tell(&told);
}

void __nvm_trace_call(void *Address, const struct nvm_site *Site) {
  if (nvmi_tracing && nvmi_pool_at(Address) == trace.pool)
    TELL(.kind = NVM_TRACE_UNSEEN, .place = nvmi_trace_offset(Address), .site = Site);
}

void __nvm_trace_flush(void *Address, const struct nvm_site *Site) {
  if (nvmi_tracing && nvmi_pool_at(Address) == trace.pool)
    TELL(.kind = NVM_TRACE_ASKED, .place = nvmi_trace_offset(Address), .site = Site);
}

/* Its frame has to be there until its callers are found: no jump to what finds them. */
__attribute__((disable_tail_calls)) void __nvm_trace_at(const struct nvm_site *Site) {
  nvmi_trace_announce_none();
  next_site = Site;
  next_callers.count = 0;
  if (Site && nvmi_tracing)
    nvmi_trace_find_callers(&next_callers, __builtin_frame_address(0));
}
