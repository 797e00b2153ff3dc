/* judging.c: looks at single words, records and images, by hand (tx/judge.h, tx/own_image.h). */
#include "core/captured.h"
#include "core/lines.h"
#include "handing.h"
#include "heap/heap_locate.h"
#include "heap/heap_types.h"
#include "hooks.h"
#include "judge/judge.h"
#include "judge/own_image.h"
#include "judge/pointers_safe.h"
#include "order/order.h"
#include "tx/tx.h"
#include "type_tables.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>

enum { TAGGED_ID = 5231, LOOSE_ID, EMPTY_ID, VOLATILE_ID, POINTER = 1, NUMBER = 2 };
enum { CELLS = 4, MANY = 100, LARGE = 4096, ROUNDS = 6 };

/* Each of its cells says by itself what it has. */
struct tagged {
  struct {
    uint64_t kind;
    void *p;
  } cells[CELLS];
};
/* A pointer that another member decides about, before elements that have no size. */
struct loose {
  uint64_t kind;
  void *p;
};

static const int64_t pointer[] = {POINTER};
static const struct nvm_when each = {
    .offset = 0, .bits = 64, .count = 1, .follows = 1, .values = pointer};
static const struct nvm_when one = {.offset = 0, .bits = 64, .count = 1, .values = pointer};
static const struct nvm_field tagged_fields[] = {{.name = "p",
                                                  .offset = 8,
                                                  .count = CELLS,
                                                  .stride = 16,
                                                  .kind = NVM_FIELD_POINTER,
                                                  .when = &each}},
                              loose_fields[] = {{.name = "p",
                                                 .offset = 8,
                                                 .count = 1,
                                                 .stride = 8,
                                                 .kind = NVM_FIELD_POINTER,
                                                 .when = &one},
                                                {.name = "rest",
                                                 .target = EMPTY_ID,
                                                 .offset = sizeof(struct loose),
                                                 .stride = 1,
                                                 .kind = NVM_FIELD_FLEXIBLE_ARRAY}},
                              volatile_fields[] = {{.name = "word",
                                                    .count = 8,
                                                    .stride = 1,
                                                    .kind = NVM_FIELD_VOLATILE}};
static const struct nvm_type tagged = TEST_TYPE(TAGGED_ID, tagged, tagged_fields),
                             loose = TEST_TYPE(LOOSE_ID, loose, loose_fields),
                             empty = {.id = EMPTY_ID,
                                      .name = "struct empty",
                                      .members = "",
                                      .alignment = 1},
                             shared = {.id = VOLATILE_ID,
                                       .name = "struct shared",
                                       .members = "",
                                       .size = 8,
                                       .alignment = 8,
                                       .field_count = 1,
                                       .fields = volatile_fields};
TEST_TYPES(types, &tagged, &loose, &empty, &shared);

static int dram;

static void *prepare_block(uint64_t type, size_t size) {
  prepare();
  begin();
  void *block = nvm_calloc(all.pool, type, 1, size);
  CHECK(block);
  commit();
  return block;
}

static uint64_t place_of(const void *address) {
  return (uint64_t)(uintptr_t)address - all.pool->header.base;
}

/* Of each element it is asked whether what decides about it was stored. */
TEST(judging_each_element_that_is_decided) {
  struct tagged *record = prepare_block(TAGGED_ID, sizeof *record);
  begin();
  STORE(record->cells[2].kind, NUMBER);
  STORE(record->cells[2].p, (void *)&dram);
  commit();
  begin();
  STORE(record->cells[2].kind, POINTER);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EUNSAFE);
  begin();
  STORE(record->cells[1].kind, POINTER);
  commit();
  finish();
}

/* Elements without a size are none. */
TEST(judging_no_elements_without_a_size) {
  alarm(3);
  struct loose *record = prepare_block(LOOSE_ID, 400);
  begin();
  STORE(*(uint64_t *)((char *)record + 200), 1);
  STORE(record->kind, NUMBER);
  commit();
  finish();
}

/* What is known of one block is forgotten where none lies. */
TEST(judging_nothing_beside_blocks) {
  struct tagged *record = prepare_block(TAGGED_ID, sizeof *record);
  begin();
  void *word = nvm_calloc(all.pool, VOLATILE_ID, 1, 8);
  commit();
  struct nvmi_judge judge = {.pool = all.pool};
  uint64_t beside = all.pool->header.heap_offset + all.pool->header.heap_size - NVM_CHUNK_SIZE;
  nvmi_judge_look_up(&judge, place_of(record));
  CHECK(judge.words && judge.by_record && !judge.has_volatile);
  nvmi_judge_look_up(&judge, beside);
  CHECK(!judge.words && !judge.by_record);
  nvmi_judge_look_up(&judge, place_of(word));
  CHECK(judge.has_volatile);
  nvmi_judge_look_up(&judge, beside);
  CHECK(!judge.has_volatile && judge.start == beside && judge.end == beside + 8);
  CHECK(nvmi_has_volatile_at(all.pool, place_of(word), place_of(word) + 8));
  CHECK(!nvmi_has_volatile_at(all.pool, place_of(record), place_of(record) + 8));
  all.pool->heap->built = false; /* not known yet */
  CHECK(nvmi_has_volatile_at(all.pool, place_of(record), place_of(record) + 8));
  all.pool->heap->built = true;
  finish();
}

/* In a child of fork what nobody has read of the heap stays unread. */
TEST(judging_no_blocks_that_a_child_does_not_know) {
  struct tagged *record = prepare_block(TAGGED_ID, sizeof *record);
  struct nvmi_judge judge = {.pool = all.pool};
  struct nvmi_location at;
  CHECK(nvmi_block_locate(all.pool->heap, place_of(record) - all.pool->header.heap_offset, &at));
  struct nvmi_chunk *chunk = (struct nvmi_chunk *)(uintptr_t)at.chunk;
  struct nvmi_span *span = chunk->span;
  chunk->span = NULL;
  all.pool->forked = true;
  nvmi_judge_look_up(&judge, place_of(record));
  CHECK(!judge.words && judge.start == place_of(record));
  all.pool->forked = false;
  chunk->span = span;
  nvmi_judge_look_up(&judge, place_of(record));
  CHECK(judge.words);
  finish();
}

static unsigned visited;
static enum nvm_error visit(void *context, const struct nvm_type *type, uint64_t record) {
  (void)context, (void)type, (void)record;
  visited++;
  return NVM_OK;
}

/* Blocks that nothing was stored to are not looked at: they may be others'. */
TEST(judging_blocks_that_were_written) {
  struct loose *record = prepare_block(LOOSE_ID, sizeof *record);
  begin();
  void *next = nvm_calloc(all.pool, LOOSE_ID, 1, sizeof *record);
  commit();
  uint64_t first = place_of(record) < place_of(next) ? place_of(record) : place_of(next);
  uint64_t line = first & -(uint64_t)NVM_LINE_SIZE;
  struct nvmi_judge judge = {.pool = all.pool};
  CHECK(nvmi_judge_blocks(&judge, line, UINT64_C(0xff) << (first - line), visit, NULL) == NVM_OK);
  CHECK(visited == 1);
  CHECK(nvmi_judge_blocks(&judge, line, UINT64_MAX, visit, NULL) == NVM_OK);
  CHECK(visited > 2);
  finish();
}

/* Many are new, and free again; each had a word that may be an unsafe pointer. */
static void store_in_many(void) {
  struct tagged *record[MANY];
  begin();
  for (unsigned i = 0; i < MANY; i++) {
    record[i] = nvm_calloc(all.pool, TAGGED_ID, 1, sizeof *record[i]);
    CHECK(record[i]);
    STORE(record[i]->cells[0].kind, POINTER);
    STORE(record[i]->cells[0].p, (void *)&dram);
  }
  for (unsigned i = 0; i < MANY; i++)
    CHECK(nvm_free(record[i]) == 0);
}

/* What is known of a transaction's blocks is made once, and leaves no memory. */
TEST(judging_leaves_no_memory) {
  long before = 0;
  prepare_block(TAGGED_ID, sizeof(struct tagged));
  for (unsigned i = 0; i < ROUNDS; i++) {
    if (i == ROUNDS / 2)
      before = (long)hook_maps - (long)hook_unmapped;
    store_in_many();
    CHECK(nvmi_pointers_are_safe(nvmi_self, nvmi_self->touched));
    CHECK(nvm_tx_abort(all.pool) == 0);
  }
  CHECK((long)hook_maps - (long)hook_unmapped == before);
  finish();
}

static void look_without_memory(void *unused) {
  (void)unused;
  prepare_block(TAGGED_ID, sizeof(struct tagged));
  CHECK_FAILS(nvm_tx_begin(NULL) == 0, NVM_EARGUMENT); /* a message has room from now on */
  store_in_many();
  CHECK(nvmi_pointers_are_safe(nvmi_self, nvmi_self->touched));
  fault_no_memory = true;
  nvmi_pointers_are_safe(nvmi_self, nvmi_self->touched);
}

/* Without memory to look at its pointers nothing is committed: the process ends, and says so. */
TEST(judging_needs_memory) {
  char said[1000];
  int status = test_child_says(look_without_memory, NULL, said, sizeof said);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT &&
        strstr(said, "out of memory to look at a transaction's blocks"));
}

/* A transaction that stored nothing leaves no bytes. */
TEST(judging_an_image_of_nothing) {
  struct nvmi_array image = {0};
  prepare();
  begin();
  STORE(all.words[0], 1);
  CHECK(nvmi_own_image(nvmi_self->logs[all.pool->index], NULL, 0, &image) && image.count == 0);
  commit();
  finish();
}

/* A range has the bytes that are there now, also where some were captured before. */
TEST(judging_an_image_of_a_range) {
  struct nvmi_array image = {0};
  prepare();
  begin();
  char *block = nvm_alloc(all.pool, 0, LARGE);
  CHECK(block);
  pthread_mutex_lock(&all.lock[0]);
  STORE(*(uint64_t *)(block + NVM_LINE_SIZE), 1);
  pthread_mutex_unlock(&all.lock[0]);
  *(volatile uint64_t *)(block + NVM_LINE_SIZE) = 2;
  uint64_t line = (uintptr_t)block / NVM_LINE_SIZE + 1;
  struct nvmi_line range = {line | NVMI_RANGE | NVMI_FRESH, 2};
  CHECK(nvmi_own_image(nvmi_self->logs[all.pool->index], &range, 1, &image));
  bool found = false;
  for (size_t i = 0; i < image.count; i++) {
    const struct nvmi_captured *one_line = (struct nvmi_captured *)image.items + i;
    CHECK(one_line->line == line || one_line->line == line + 1);
    found |= one_line->line == line && one_line->mask == UINT64_MAX &&
             memcmp(one_line->bytes, (void *)(line * NVM_LINE_SIZE), NVM_LINE_SIZE) == 0;
  }
  CHECK(found);
  commit();
  finish();
}

/* What an image does not have is as the pool has it. */
TEST(judging_beside_an_image) {
  struct nvmi_array image = {0};
  uint64_t word = 0;
  prepare();
  begin();
  STORE(all.words[0], 5);
  commit();
  struct nvmi_judge judge = {.pool = all.pool, .image = &image};
  nvmi_own_image_read(&judge, place_of(all.words), &word, sizeof word);
  CHECK(word == 5);
  finish();
}

/* What a function may write ends with the pool, where no block says more. */
TEST(judging_a_call_at_the_end_of_the_pool) {
  enum { LAST = 256 };
  prepare();
  uint64_t end = all.pool->header.heap_offset + all.pool->header.heap_size;
  begin();
  STORE(all.words[0], 1);
  uint64_t before = nvmi_self->logs[all.pool->index]->stats.notes;
  __nvm_note_if_persistent(all.pool->work + end - LAST, (size_t)1 << 30);
  CHECK(nvmi_self->logs[all.pool->index]->stats.notes == before + 1);
  commit();
  finish();
}
