/* wrap.c: the explicit interface over all methods (nvmove/wrap.h).
 *
 * With `undo` and `shadow` a store is noted, then made in place, and a load is a plain one. A method
 * with a `store` of its own keeps new values elsewhere: then a load asks whether there is one. The
 * question costs little for a line without new values: a look at the filter of the thread's alias
 * table, and at the number of lines that others have handed over.
 */
#include "tx/wrap.h"

#include "base/signal_frame.h"
#include "core/alias.h"
#include "core/barrier.h"
#include "core/exits.h"
#include "core/fresh.h"
#include "core/gate.h"
#include "core/handed.h"
#include "core/lines.h"
#include "core/map.h"
#include "core/redirected.h"
#include "core/thread.h"
#include "core/tracing.h"
#include "core/watch.h"
#include "log/log.h"
#include "order/order.h"
#include "tx/tx_order.h"

#include "nvmove/wrap.h"

/* Says that the thread is at work, at a moment when the gates are open (gate.h). */
static void enter(struct nvmi_thread *thread, uint64_t pools) {
  thread->busy++;
  nvmi_compiler_barrier();
  nvmi_gate_enter(thread, pools);
}

/* The same in one pool. */
static inline void enter_pool(struct nvmi_thread *thread, const struct nvm_pool *pool) {
  thread->busy++;
  nvmi_compiler_barrier();
  if (NVMI_UNLIKELY(pool->gate || nvmi_all_stand()))
    nvmi_gate_enter(thread, UINT64_C(1) << pool->index);
}

static void leave(struct nvmi_thread *thread) {
  nvmi_says_it_rests(thread);
  nvmi_compiler_barrier();
  thread->busy--;
  nvmi_compiler_barrier();
  if (NVMI_UNLIKELY(thread->posts_count))
    nvmi_order_post(thread);
}

/* A signal's handler that interrupted libnvmove may have left it by a jump. Code of nvmove-cc says so where
 * it lands (__nvm_atomic_landed); other code does not, so the next call asks. */
static inline void look_for_a_jump(void) {
  if (NVMI_LIKELY(nvmi_self != NULL))
    nvmi_tx_look_for_a_jump(nvmi_self);
}

/* Of a new block that the thread remembers the bytes go in place: it is nobody else's. */
static void store_fresh(struct nvmi_thread *thread, struct nvmi_fresh *fresh, char *to,
                        const char *from, size_t size, uintptr_t start, uintptr_t end) {
  memcpy(to, from, size);
  thread->fresh_stores = true;
  nvmi_fresh_mark(thread, fresh, start, end);
}

static __attribute__((noinline)) void store_by_method(struct nvm_pool *pool, void *to,
                                                      const void *from, size_t size) {
  struct nvmi_thread *thread = nvmi_thread_self();
  if (thread->busy)
    nvmi_fatal(NVM_ELIMIT, pool->path,
               "a signal handler that interrupts the runtime stores through nvmove/wrap.h; store "
               "outside of handlers");
  if (NVMI_UNLIKELY(nvmi_exit_was_here()))
    nvmi_exit_again();
  struct nvmi_log *log = nvmi_log_of(thread, pool);
  if (!log)
    nvmi_fatal_recorded(pool->path, "no log for this thread");
  uintptr_t start = (uintptr_t)to, end = start + size;
  struct nvmi_fresh *fresh = nvmi_fresh_at(thread, &start, &end);
  nvmi_trace(pool, NVM_TRACE_NOTE, nvmi_offset(pool, to), size);
  if (NVMI_UNLIKELY(nvmi_watched))
    nvmi_watch_store(__builtin_return_address(0), size);
  enter_pool(thread, pool);
  log->stats.notes++;
  nvmi_touch(thread, UINT64_C(1) << pool->index);
  if (fresh)
    store_fresh(thread, fresh, to, from, size, start, end);
  else
    pool->method->store(log, to, from, size);
  if (NVMI_UNLIKELY(!fresh && (thread->calls || (nvmi_is_redirected() && nvmi_plain_source()))))
    pool->method->settle(log, start, end);
  nvmi_trace_wrapped(to, from, size);
  leave(thread);
}

void nvmi_write(void *to, const void *from, size_t size) {
  struct nvm_pool *pool = nvmi_pool_at(to);
  if (NVMI_UNLIKELY(!size))
    return;
  look_for_a_jump();
  if (NVMI_UNLIKELY(pool && pool->method->store && !pool->forked)) {
    store_by_method(pool, to, from, size);
    return;
  }
  if (NVMI_LIKELY(pool != NULL))
    __nvm_note(to, size);
  memmove(to, from, size);
  if (NVMI_UNLIKELY(pool && nvmi_tracing))
    nvmi_trace_wrapped(to, to, size);
}

/* The thread's log, if it has new values; null: none. */
static inline struct nvmi_log *log_with_aliases(const struct nvm_pool *pool) {
  struct nvmi_log *log = nvmi_self ? nvmi_self->logs[pool->index] : NULL;
  return log && log->alias.count ? log : NULL;
}

static void before_read(struct nvmi_log *log, uintptr_t start, uintptr_t end) {
  if (!log->pool->method->before_read || log->owner->busy)
    return;
  enter_pool(log->owner, log->pool);
  log->pool->method->before_read(log, start, end);
  leave(log->owner);
}

static bool keeps_values(const struct nvm_pool *pool) { return pool && pool->method->store; }

/* For the program's code behind which `code` is. */
static inline void write_for(const void *code, void *to, const void *from, size_t size) {
  nvmi_watch_place(code);
  nvmi_write(to, from, size);
  nvmi_watch_place(NULL);
}

/* As memmove. */
void __nvm_copy(void *To, const void *From, size_t Size) {
  enum { PIECE_MAX = 1024 }; /* bytes of a stack, which may be small */
  char piece[PIECE_MAX], *to = To;
  const char *from = From;
  if (!keeps_values(nvmi_pool_at(From))) {
    write_for(__builtin_return_address(0), To, From, Size);
    return;
  }
  bool is_backward = to > from && to < from + Size;
  for (size_t done = 0, part; done < Size; done += part) {
    part = Size - done < PIECE_MAX ? Size - done : PIECE_MAX;
    size_t at = is_backward ? Size - done - part : done;
    nvmi_read(piece, from + at, part);
    write_for(__builtin_return_address(0), to + at, piece, part);
  }
}

void __nvm_fill(void *To, int Byte, size_t Size) {
  char piece[NVM_LINE_SIZE * 8];
  memset(piece, Byte, Size < sizeof piece ? Size : sizeof piece);
  for (size_t done = 0, part; done < Size; done += part) {
    part = Size - done < sizeof piece ? Size - done : sizeof piece;
    write_for(__builtin_return_address(0), (char *)To + done, piece, part);
  }
}

/* Handed values are older than the thread's own. */
static void read_newest(struct nvmi_log *log, void *to, const void *from, size_t size) {
  if (nvmi_handed_some())
    nvmi_handed_read(to, from, size);
  else
    memcpy(to, from, size);
  if (log && log->alias.count)
    nvmi_alias_read(log, to, (uintptr_t)from, size);
}

void nvmi_read(void *to, const void *from, size_t size) {
  const struct nvm_pool *pool = nvmi_pool_at(from);
  struct nvmi_log *log = NULL;
  if (NVMI_UNLIKELY(!size))
    return;
  if (NVMI_UNLIKELY(pool && pool->method->store)) {
    look_for_a_jump();
    log = log_with_aliases(pool);
    if (log && size > sizeof(uint64_t))
      before_read(log, (uintptr_t)from, (uintptr_t)from + size);
  }
  read_newest(log, to, from, size);
}

static __attribute__((noinline)) uint64_t load_newest(const struct nvm_pool *pool,
                                                      const void *address, size_t size) {
  uint64_t value = 0, inside = (uintptr_t)address % NVM_LINE_SIZE;
  const struct nvmi_log *log = log_with_aliases(pool);
  if (NVMI_LIKELY(log && inside <= NVM_LINE_SIZE - size && !nvmi_handed_some())) {
    const struct nvmi_captured *alias = nvmi_alias_find(log, (uintptr_t)address / NVM_LINE_SIZE);
    uint64_t all = UINT64_MAX >> (64 - size) << inside, aliased = alias ? alias->mask & all : 0;
    if (NVMI_LIKELY(aliased == all || !aliased)) {
      memcpy(&value, aliased ? alias->bytes + inside : (const char *)address, size);
      return value;
    }
  }
  nvmi_read(&value, address, size);
  return value;
}

/* Whether the bytes may have a new value that is not in place. */
static inline bool may_be_elsewhere(const struct nvm_pool *pool, uintptr_t at, size_t size) {
  const struct nvmi_log *log = log_with_aliases(pool);
  if (nvmi_handed_some())
    return true;
  return log && (nvmi_alias_may_have(&log->alias, at / NVM_LINE_SIZE) ||
                 at % NVM_LINE_SIZE > NVM_LINE_SIZE - size);
}

/* `size`: 1 to 8. The value is in the lowest bytes, the others are zero. */
static inline __attribute__((always_inline)) uint64_t load(const void *address, size_t size) {
  const struct nvm_pool *pool = nvmi_pool_at(address);
  uint64_t value = 0;
  if (NVMI_UNLIKELY(pool && pool->method->store &&
                    may_be_elsewhere(pool, (uintptr_t)address, size)))
    return load_newest(pool, address, size);
  memcpy(&value, address, size);
  return value;
}

uint64_t nvm_wrap_load64(const void *address) { return load(address, sizeof(uint64_t)); }

/* The usual sizes are one load each. */
uint64_t __nvm_get(const void *Address, size_t Size) {
  switch (Size) {
  case 8:
    return load(Address, 8);
  case 4:
    return load(Address, 4);
  case 1:
    return load(Address, 1);
  default:
    return load(Address, Size);
  }
}

void __nvm_put(void *Address, uint64_t Value, size_t Size) {
  write_for(__builtin_return_address(0), Address, &Value, Size);
}

void nvm_wrap_store64(void *address, uint64_t value) {
  write_for(__builtin_return_address(0), address, &value, sizeof value);
}

void nvm_wrap_read(void *to, const void *from, size_t size) { nvmi_read(to, from, size); }

void nvm_wrap_write(void *to, const void *from, size_t size) {
  write_for(__builtin_return_address(0), to, from, size);
}

int nvm_wrap_open(NVM_POOL *pool) {
  look_for_a_jump();
  return nvm_tx_begin(pool);
}

int nvm_wrap_close(NVM_POOL *pool) {
  look_for_a_jump();
  return nvm_tx_commit(pool);
}

static void settle(struct nvmi_log *log, uintptr_t start, uintptr_t end) {
  if (NVMI_UNLIKELY(log->owner->busy)) {
    log->pool->method->show(log, start, end);
    return;
  }
  enter_pool(log->owner, log->pool);
  log->pool->method->settle(log, start, end);
  leave(log->owner);
}

void __nvm_settle(const void *Address, size_t Size) {
  const struct nvm_pool *pool = nvmi_pool_at(Address);
  if (NVMI_LIKELY(!keeps_values(pool)) || !Size)
    return;
  look_for_a_jump();
  struct nvmi_log *log = log_with_aliases(pool);
  nvmi_handed_settle((uintptr_t)Address, (uintptr_t)Address + Size);
  if (log)
    settle(log, (uintptr_t)Address, (uintptr_t)Address + Size);
}

void __nvm_settle_all(void) {
  struct nvmi_thread *thread = nvmi_self;
  nvmi_handed_settle(0, UINTPTR_MAX);
  if (NVMI_LIKELY(!thread || !thread->aliases))
    return;
  look_for_a_jump();
  for (uint64_t pools = thread->aliases; pools; pools &= pools - 1) {
    struct nvmi_log *log = thread->logs[__builtin_ctzll(pools)];
    if (log && log->alias.count && !log->pool->forked)
      settle(log, (uintptr_t)log->pool->work, (uintptr_t)log->pool->work + log->pool->header.range);
  }
}

/* A jump out of the call leaves the number: then values go in place earlier than they have to, until an outer call
 * ends. */
uint64_t __nvm_call_begin(void) {
  struct nvmi_thread *thread = nvmi_thread_self();
  __nvm_settle_all();
  return thread->calls++;
}

void __nvm_call_end(uint64_t Before) { nvmi_self->calls = Before; }

/* What lies in front of a page's first code may not be there. */
static bool is_marked(const void *function) {
  enum { PAGE = 4096 };
  uint64_t magic;
  if ((uintptr_t)function % PAGE < sizeof magic)
    return false;
  memcpy(&magic, (const char *)function - sizeof magic, sizeof magic);
  return magic == NVM_REDIRECTED_MAGIC;
}

void __nvm_settle_before(const void *Function) {
  bool has_some = nvmi_handed_some() || (nvmi_self && nvmi_self->aliases);
  if (NVMI_UNLIKELY(has_some) && !is_marked(Function))
    __nvm_settle_all();
}

static void call_each(struct nvmi_thread *thread, bool commits) {
  uint64_t pools = thread->aliases & thread->touched;
  if (!pools)
    return;
  enter(thread, pools);
  for (; pools; pools &= pools - 1) {
    struct nvmi_log *log = thread->logs[__builtin_ctzll(pools)];
    const struct nvmi_method *method = log->pool->method;
    void (*before)(struct nvmi_log *) = commits ? method->before_commit : method->before_release;
    if (before && !log->pool->forked)
      before(log);
  }
  leave(thread);
}

void nvmi_wrap_before_release(struct nvmi_thread *thread) { call_each(thread, false); }

void nvmi_wrap_before_commit(struct nvmi_thread *thread) { call_each(thread, true); }
