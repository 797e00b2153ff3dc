/* unnoted.c: an abort gives back members that are stored to without notes, where a note of the whole
 * record has covered them (judge/unnoted.h). */
#include "core/method.h"
#include "core/pool.h"
#include "handing.h"
#include "type_tables.h"

#include <string.h>

enum { OPEN_ID = 7701, OPENS_ID, OPENS = 300, STATE = 24 };

struct open {
  uint64_t number;
  char state[STATE]; /* volatile */
  struct open *next;
  uint64_t more[4];
};
#define STATE_FIELD                                                                                \
  {.name = "state",                                                                                \
   .offset = offsetof(struct open, state),                                                         \
   .count = STATE,                                                                                 \
   .stride = 1,                                                                                    \
   .kind = NVM_FIELD_VOLATILE}
struct opens {
  uint64_t count;
  struct open open[];
};
static const struct nvm_field open_fields[] = {STATE_FIELD,
                                               TEST_FIELD(open, next, NVM_FIELD_POINTER)};
static const struct nvm_field opens_fields[] = {TEST_TAIL(opens, open, OPEN_ID)};
static const struct nvm_type open_type = TEST_TYPE(OPEN_ID, open, open_fields),
                             opens_type = TEST_TYPE(OPENS_ID, opens, opens_fields);
TEST_TYPES(described, &open_type, &opens_type);

static void set(struct open *open, const char *state) {
  snprintf(open->state, sizeof open->state, "%s", state);
}

static void clear(void *record, size_t size) {
  note_store(record, size);
  memset(record, 0, size);
}

/* The file has "old", and memory "new". */
static struct open *make(void) {
  prepare();
  begin();
  struct open *open = nvm_calloc(all.pool, OPEN_ID, 1, sizeof *open);
  set(open, "old");
  STORE(open->number, 7);
  STORE(all.words[0], (uint64_t)(uintptr_t)open);
  commit();
  set(open, "new");
  return open;
}

static bool is(const struct open *open, const char *state) {
  return open->number == 7 && !open->next && strcmp(open->state, state) == 0;
}

TEST(volatile_members_come_back_by_an_abort) {
  struct open *open = make();
  for (unsigned i = 0; i < 3; i++) {
    begin();
    clear(open, sizeof *open);
    CHECK(nvm_tx_abort(all.pool) == 0 && is(open, "new"));
  }
  finish();
}

/* Before anything was allocated, or looked at. */
TEST(volatile_members_come_back_after_an_opening) {
  make();
  reopen();
  struct open *open = (struct open *)(uintptr_t)all.words[0];
  set(open, "newest");
  begin();
  clear(open, sizeof *open);
  CHECK(nvm_tx_abort(all.pool) == 0 && is(open, "newest"));
  finish();
}

/* What the transaction itself has made of them is not what comes back: neither where it is noted again, nor
 * behind a release, nor where other lines have taken the line's slot. */
TEST(volatile_members_come_back_as_before_the_transaction) {
  struct open *open = make();
  begin();
  char *far = nvm_calloc(all.pool, 0, 2 * NVM_LINE_SLOTS, NVM_LINE_SIZE);
  CHECK(far);
  commit();
  for (unsigned way = 0; way < 3; way++) {
    begin();
    clear(open, sizeof *open);
    set(open, "newer");
    if (way == 1) {
      pthread_mutex_lock(&all.lock[0]);
      pthread_mutex_unlock(&all.lock[0]);
    }
    if (way == 2)
      for (unsigned line = 0; line < 2 * NVM_LINE_SLOTS; line++)
        STORE(far[line * NVM_LINE_SIZE], 1);
    __nvm_note(open, sizeof *open); /* whatever the table says */
    memset(open, 1, sizeof *open);
    CHECK(nvm_tx_abort(all.pool) == 0 && is(open, "new"));
  }
  finish();
}

TEST(volatile_members_come_back_by_a_failed_commit) {
  static int outside;
  struct open *open = make();
  begin();
  clear(open, sizeof *open);
  STORE(open->next, (void *)&outside);
  CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EUNSAFE);
  CHECK(is(open, "new"));
  finish();
}

/* Of many records in one note, as a long range. */
TEST(volatile_members_come_back_of_a_range) {
  prepare();
  begin();
  struct opens *opens =
      nvm_calloc(all.pool, OPENS_ID, 1, sizeof *opens + OPENS * sizeof(struct open));
  CHECK(opens);
  commit();
  for (unsigned i = 0; i < OPENS; i++)
    set(&opens->open[i], i % 2 ? "odd" : "even");
  begin();
  clear(opens, sizeof *opens + OPENS * sizeof(struct open));
  CHECK(nvm_tx_abort(all.pool) == 0);
  for (unsigned i = 0; i < OPENS; i++)
    CHECK(strcmp(opens->open[i].state, i % 2 ? "odd" : "even") == 0);
  finish();
}

static void *clear_and_abort(void *open) {
  begin();
  pthread_mutex_lock(&all.lock[0]);
  clear(open, sizeof(struct open));
  set(open, "first");
  pthread_mutex_unlock(&all.lock[0]);
  all.step = 1;
  wait_for(2);
  CHECK(nvm_tx_abort(all.pool) == 0);
  return NULL;
}

/* A store that is long, though little of it is not noted yet. */
TEST(volatile_members_come_back_at_the_end_of_what_is_noted) {
  prepare();
  begin();
  struct opens *opens =
      nvm_calloc(all.pool, OPENS_ID, 1, sizeof *opens + OPENS * sizeof(struct open));
  CHECK(opens);
  commit();
  struct open *last = &opens->open[OPENS - 1];
  set(last, "new");
  begin();
  clear(opens, (size_t)(last->state - (char *)opens));
  clear(&opens->open[OPENS / 2], (size_t)(last->state - (char *)&opens->open[OPENS / 2]) + 4);
  CHECK(nvm_tx_abort(all.pool) == 0 && strcmp(last->state, "new") == 0);
  finish();
}

/* Of two transactions that covered them, whichever is undone first. */
TEST(volatile_members_come_back_where_two_covered_them) {
  struct open *open = make();
  for (unsigned stays = 0; stays < 2; stays++) {
    all.step = 0;
    pthread_t other = start(clear_and_abort, open);
    wait_for(1);
    begin();
    pthread_mutex_lock(&all.lock[0]);
    __nvm_note(open, sizeof *open);
    memset(open, 1, sizeof *open);
    pthread_mutex_unlock(&all.lock[0]);
    all.step = 2;
    if (stays)
      usleep(LONGER_US);
    CHECK_FAILS(nvm_tx_commit(all.pool) == 0, NVM_EBROKEN);
    CHECK(pthread_join(other, NULL) == 0 && is(open, "new"));
  }
  finish();
}

/* A commit ends what was covered: the next abort gives back what was there since. */
TEST(volatile_members_come_back_as_since_the_last_commit) {
  struct open *open = make();
  begin();
  clear(open, sizeof *open);
  STORE(open->number, 7);
  commit();
  set(open, "later");
  begin();
  clear(open, sizeof *open);
  CHECK(nvm_tx_abort(all.pool) == 0 && is(open, "later"));
  begin();
  note_store(open->more, sizeof open->more); /* in a line with them */
  set(open, "last");
  CHECK(nvm_tx_abort(all.pool) == 0 && is(open, "last"));
  finish();
}

/* What nothing has covered stays as it is, though the line is undone: also a store of eight bytes or less,
 * which is taken for one to a member that is noted. */
TEST(volatile_members_stay_where_no_note_covers_them) {
  struct open *open = make();
  begin();
  STORE(open->number, 8);
  note_store(open->state, 4);
  memcpy(open->state, "NEWE", 4);
  CHECK(nvm_tx_abort(all.pool) == 0);
  CHECK(open->number == 7 &&
        (all.pool->method->private_work ? open->state[0] == 'N' : is(open, "new")));
  finish();
}
