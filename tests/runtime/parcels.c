/* parcels.c: an open transaction is packed up for another thread, and unpacked (order/order_join.c). */
#include "core/lines.h"
#include "core/tracing.h"
#include "handing.h"
#include "order/order.h"
#include "order/ticket.h"

enum { OTHER = GAP * 8, TYPES = 256 };

static unsigned events[TYPES];

static void event(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                  uint64_t extra) {
  (void)pool, (void)place, (void)extra;
  events[kind]++;
}
static void alone(enum nvm_trace_kind kind, uint64_t extra) {
  (void)extra;
  events[kind]++;
}
static void passed_by(const void *lock) { (void)lock; }
static void stored(void *address, size_t size) { (void)address, (void)size; }
static const struct nvmi_trace_table counting = {
    .event = event, .alone = alone, .stored = stored, .release = passed_by, .acquire = passed_by};

/* As a commit that joins another does; the parcels stay with the thread's own ticket. */
static void pack(void) {
  nvmi_order_lock();
  if (!nvmi_self->ticket)
    nvmi_self->ticket = nvmi_ticket_new(nvmi_self);
  nvmi_join_pack(nvmi_self, &nvmi_self->ticket->parcels);
  nvmi_order_unlock();
}

/* Nothing of it is left in the thread: what it stores from then on is noted anew. What it had comes
 * back with the parcels, and an abort undoes all of it. */
TEST(parcels_have_all_that_was_open) {
  prepare();
  begin();
  store(0, 0, 1);
  STORE(all.words[GAP], 2); /* noted, in no list */
  CHECK(nvmi_self->used_count && nvmi_self->touched == 1);
  pack();
  CHECK(!nvmi_self->touched && !nvmi_self->lines.count && !nvmi_self->used_count);
  CHECK(nvmi_self->ticket->parcels.count == 1);
  STORE(all.words[GAP], 3);
  STORE(all.words[OTHER], 3);
  CHECK(nvm_tx_abort(all.pool) == 0);
  CHECK(!all.words[0] && !all.words[GAP] && !all.words[OTHER]);
  finish();
}

/* Who has stored nothing itself commits them, in the pools that they are of. */
TEST(parcels_are_committed_by_who_stored_nothing) {
  prepare();
  begin();
  store(0, 0, 1);
  STORE(all.words[GAP], 2);
  nvmi_trace_table = &counting;
  nvmi_slow.tracing = true;
  pack();
  CHECK(events[NVM_TRACE_JOIN] == 1 && events[NVM_TRACE_ADOPT] == 0);
  CHECK(nvmi_order_close(nvmi_self, true) == 1 && !nvmi_self->touched);
  nvmi_join_unpack(nvmi_self);
  CHECK(events[NVM_TRACE_JOIN] == 1 && events[NVM_TRACE_ADOPT] == 1);
  nvmi_slow.tracing = false;
  nvmi_trace_table = NULL;
  CHECK(nvmi_self->touched == 1 && all.pool->parcels == 0);
  commit();
  reopen();
  CHECK(all.words[0] == 1 && all.words[GAP] == 2);
  finish();
}
