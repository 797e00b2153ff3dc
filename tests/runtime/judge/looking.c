/* looking.c: looks at the pointers of an open transaction, where its lock is released or its commit judges
 * them (judge/pointers_safe.h), by hand: what is looked at again, and what stays noted.
 */
#include "core/gate.h"
#include "core/lines.h"
#include "core/tracing.h"
#include "handing.h"
#include "heap/heap_types.h"
#include "hooks.h"
#include "judge/pointers_safe.h"
#include "pointer.h"

enum { MANY = 100, SECONDS = 5 };

static struct pointer *pointers; /* MANY of them */
static int dram;
static size_t judged;

static void make(void) {
  describe_pointer();
  setenv("NVMOVE_METHOD", "undo", 1);
  prepare();
  begin();
  pointers = nvm_calloc(all.pool, POINTER_ID, MANY, sizeof *pointers);
  CHECK(pointers && nvm_pool_set_root(all.pool, pointers) == 0);
  commit();
  judged = 0;
}

static bool look(void) {
  return nvmi_pointers_released_are_safe(nvmi_self, nvmi_self->touched, &judged);
}

/* The transaction cannot commit: its last pointer is unsafe. */
static void finish_unsafe(void) {
  CHECK(nvm_tx_abort(all.pool) == 0);
  finish();
}

static bool is_in_table(const void *address) {
  uint64_t line = (uintptr_t)address / NVM_LINE_SIZE;
  return nvmi_line_slot(nvmi_self, line)->line == line;
}

/* A line that was looked at is noted anew with its next store, and looked at again. Others stay noted. */
TEST_ONCE(looking_again_at_a_line) {
  make();
  begin();
  STORE(pointers[0].to, pointers);
  STORE(all.words[0], 1);
  CHECK(look() && judged == 1 && nvmi_self->lines.count == 1);
  CHECK(!is_in_table(pointers) && is_in_table(all.words) && nvmi_self->used_count == 1);
  STORE(pointers[0].to, (void *)&dram);
  CHECK(!look());
  finish_unsafe();
}

TEST_ONCE(looking_again_at_a_range) {
  make();
  begin();
  __nvm_note(pointers, MANY * sizeof *pointers);
  CHECK(nvmi_self->noted_end && look() && !nvmi_self->noted_end);
  STORE(pointers[MANY / 2].to, (void *)&dram);
  CHECK(!look());
  finish_unsafe();
}

TEST_ONCE(looking_again_at_a_new_block) {
  make();
  begin();
  struct pointer *small = nvm_calloc(all.pool, POINTER_ID, 1, sizeof *small);
  CHECK(small && nvmi_self->table->fresh_end && look() && !nvmi_self->table->fresh_end);
  STORE(small->to, (void *)&dram);
  CHECK(!look());
  finish_unsafe();
}

TEST_ONCE(looking_again_at_a_large_new_block) {
  make();
  begin();
  struct pointer *large = nvm_calloc(all.pool, POINTER_ID, MANY, sizeof *large);
  CHECK(large);
  __nvm_note(large, MANY * sizeof *large);
  nvmi_lines_collect_all(nvmi_self);
  CHECK(nvmi_self->fresh_count == 1 && look() && nvmi_self->fresh_count == 0);
  STORE(large[MANY / 2].to, (void *)&dram);
  CHECK(!look());
  finish_unsafe();
}

/* New blocks without pointers stay known as new. */
TEST_ONCE(looking_at_no_block_without_pointers) {
  make();
  begin();
  char *large = nvm_alloc(all.pool, 0, MANY * sizeof *pointers);
  CHECK(large && nvmi_self->fresh_count == 1);
  STORE(all.words[0], 1);
  CHECK(look() && nvmi_self->fresh_count == 1 && judged == 0);
  commit();
  finish();
}

/* What signal handlers have stored is looked at, too. */
TEST_ONCE(looking_at_what_handlers_store) {
  make();
  begin();
  STORE(all.words[0], 1);
  nvmi_self->busy++; /* as a handler that interrupts a note */
  STORE(pointers[0].to, (void *)&dram);
  nvmi_self->busy--;
  CHECK(nvmi_self->nested.count == 1 && !look());
  finish_unsafe();
}

/* Of a pool whose heap nobody has read a look reads it. */
TEST_ONCE(looking_reads_the_heap) {
  make();
  CHECK(nvm_pool_close(all.pool) == 0);
  all.pool = test_open(test_path("pool"));
  pointers = nvm_pool_root(all.pool);
  begin();
  STORE(pointers[0].to, (void *)&dram);
  CHECK(!all.pool->heap->built && !look() && all.pool->heap->built);
  finish_unsafe();
}

static unsigned yields;
static void open_gate(void) {
  yields++;
  nvmi_gate_open(&all.pool->gate, NVMI_GATE_DRAM_LIMIT);
}

/* A look is work: it waits while the gate is shut. */
TEST_ONCE(looking_waits_at_the_gate) {
  make();
  begin();
  STORE(pointers[0].to, pointers);
  alarm(SECONDS);
  hook_yield = open_gate;
  nvmi_gate_shut(&all.pool->gate, NVMI_GATE_DRAM_LIMIT);
  CHECK(nvmi_pointers_are_safe(nvmi_self, nvmi_self->touched));
  hook_yield = NULL;
  CHECK(yields == 1 && !nvmi_self->busy);
  commit();
  finish();
}

static unsigned looks;
static void event(const struct nvm_pool *pool, enum nvm_trace_kind kind, uint64_t place,
                  uint64_t extra) {
  (void)pool, (void)kind, (void)place, (void)extra;
}
static void alone(enum nvm_trace_kind kind, uint64_t extra) {
  looks += kind == NVM_TRACE_OTHER && extra == nvmi_self->touched;
}
static const struct nvmi_trace_table table = {.event = event, .alone = alone};

/* A trace has the look of a commit, and in which pools. */
TEST_ONCE(looking_is_traced) {
  make();
  begin();
  STORE(pointers[0].to, pointers);
  nvmi_lines_collect_all(nvmi_self);
  nvmi_trace_table = &table;
  nvmi_slow.tracing = true;
  enum nvm_error error =
      nvmi_pointers_check_all(nvmi_self, nvmi_self->touched, nvmi_self->lines.count);
  nvmi_slow.tracing = false;
  nvmi_trace_table = NULL;
  CHECK(error == NVM_OK && looks == 1);
  commit();
  finish();
}
