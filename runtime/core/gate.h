/* gate.h: whether threads may note stores, allocate, free and end transactions.
 *
 * A thread first says that it is at work (`busy`), then looks here. Gate: of one pool.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct nvmi_thread;

/* Who has shut a pool's gate. Each opens it for itself alone. */
enum nvmi_gate {
  NVMI_GATE_DRAM_LIMIT = 1,
  NVMI_GATE_QUIESCE = 2,
  NVMI_GATE_CHILD = 4, /* of fork */
  NVMI_GATE_HANDED = 8 /* to the child of daemon() */
};
static inline void nvmi_gate_shut(_Atomic unsigned char *gate, enum nvmi_gate who) {
  atomic_fetch_or(gate, (unsigned char)who);
}
static inline void nvmi_gate_open(_Atomic unsigned char *gate, enum nvmi_gate who) {
  atomic_fetch_and(gate, (unsigned char)~who);
}

/* Why the quick ways are closed: stores are traced; all threads stand still, in all pools
 * (standstill.h); exit was here, and has to come again (exits.h); or a tool watches (watch.h), which writes that byte
 * itself. */
union nvmi_slow {
  struct {
    bool tracing, stopped, exited, watched;
  };
  uint32_t any;
};
extern union nvmi_slow nvmi_slow;
static inline bool nvmi_goes_slowly(void) {
  return __atomic_load_n(&nvmi_slow.any, __ATOMIC_ACQUIRE);
}
static inline bool nvmi_exit_was_here(void) {
  return __atomic_load_n(&nvmi_slow.exited, __ATOMIC_RELAXED);
}
static inline bool nvmi_all_stand(void) {
  return __atomic_load_n(&nvmi_slow.stopped, __ATOMIC_ACQUIRE);
}

/* The thread has said that it is at work in the pools with these numbers (bits). It is not, until
 * all gates are open; one that was at work before goes on. */
void nvmi_gate_enter(struct nvmi_thread *thread, uint64_t pools);
/* The same in `more` and in all pools where the thread has something uncommitted; gives both. During
 * the wait a signal handler may store to another pool. */
uint64_t nvmi_gate_enter_touched(struct nvmi_thread *thread, uint64_t more);

/* Around what ends, or hands on, all that the calling thread has open outside transactions. Some of that may lie
 * in a pool that another thread closes at this moment: it takes the thread's log away, in a standstill, unless
 * the thread has said so (pool/close_logs.h). A thread that calls a function for a pool, or is in a
 * transaction, relies on nobody's closing it, and need not. May be nested. */
void nvmi_uses_open(struct nvmi_thread *thread);
void nvmi_used_open(struct nvmi_thread *thread);
