/* order_join.h: an open transaction that becomes part of another's (order.h).
 *
 * Parcel: what a joined transaction did in one pool. Safe: with the pointers that whoever unpacks it
 * does not check.
 */
#pragma once

#include "core/thread.h"

struct nvmi_parcel {
  struct nvm_pool *pool;
  struct nvmi_log *log;       /* left with its undo entries, or null */
  struct nvmi_array captured; /* struct nvmi_captured */
  struct nvmi_array covered;  /* the same (judge/unnoted.h) */
  struct nvmi_array intents;  /* struct nvmi_intent */
  uint64_t number;            /* in a trace */
};

/* Owns the logs in parcels. */
extern struct nvmi_thread nvmi_nobody;

bool nvmi_join_is_safe(struct nvmi_thread *thread);
/* Pools (bits) in which a released word may be stored to by others before the commit judges it; what
 * the thread's node says of the pointers in them, before it releases a lock. */
uint64_t nvmi_join_uncaptured(const struct nvmi_thread *thread);
void nvmi_join_judge(struct nvmi_thread *thread, uint64_t pools);
/* The thread's open transaction as parcels, and back. */
void nvmi_join_pack(struct nvmi_thread *thread, struct nvmi_array *parcels);
void nvmi_join_unpack(struct nvmi_thread *thread);
/* Takes the bytes that are noted as they are now; under order.c's mutex. */
void nvmi_join_capture(struct nvmi_thread *thread);
