/* log_end.c: a damaged frame of a log is told from one that a crash tore (runtime/log/log_end.c).
 */
#include "format/layout.h"
#include "harness.h"
#include "nvmove/repair.h"
#include "store.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WORDS = 6, GAP = 16, LINE = 64, PAYLOAD = 40, RECORDED = PAYLOAD + 8 };
enum { FILLERS = 150, LONG_RECORD = 40000 };

static uint64_t value_of(unsigned word, bool after) {
  return UINT64_C(0x5a17e3c904b6d800) + 1000003 * (2 * word + after);
}

static uint64_t *fill(NVM_POOL *pool) {
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t *words = nvm_calloc(pool, 0, WORDS * GAP, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0);
  for (unsigned i = 0; i < WORDS; i++)
    STORE(words[GAP * i], value_of(i, false));
  CHECK(nvm_tx_commit(pool) == 0);
  return words;
}

/* One transaction that is open, or one for each word. */
static void store_and_die(void *several) {
  NVM_POOL *pool = test_create(test_path("pool"), 1 << 20);
  uint64_t *words = fill(pool);
  if (!several)
    CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < WORDS; i++) {
    if (several)
      CHECK(nvm_tx_begin(pool) == 0);
    STORE(words[GAP * i], value_of(i, true));
    if (several)
      CHECK(nvm_tx_commit(pool) == 0);
  }
  raise(SIGKILL);
}

/* A frame that has this value so far behind its start; `flips`: one bit of it. False: there is none. */
static bool find(uint64_t value, unsigned behind, bool flips) {
  int fd = open(test_path("pool"), O_RDWR);
  struct stat file;
  CHECK(fd >= 0 && fstat(fd, &file) == 0);
  char *bytes = mmap(NULL, (size_t)file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(bytes != MAP_FAILED);
  bool found = false;
  for (off_t at = behind; at < file.st_size && !found; at += LINE) {
    found = memcmp(bytes + at, &value, sizeof value) == 0;
    bytes[at] ^= found && flips;
  }
  munmap(bytes, (size_t)file.st_size);
  close(fd);
  return found;
}

static bool damage(uint64_t value, unsigned behind) { return find(value, behind, true); }

static void die_and_damage(bool several, unsigned word) {
  unlink(test_path("pool"));
  CHECK(test_was_killed(test_child(NULL, store_and_die, several ? &word : NULL)));
  CHECK(damage(value_of(word, several), several ? RECORDED : PAYLOAD));
}

static bool method_is(const char *name) { return strcmp(getenv("NVMOVE_METHOD"), name) == 0; }

static void check_refused(void) {
  CHECK_FAILS(nvm_pool_open(test_path("pool")) != NULL, NVM_ECORRUPT);
}

/* Of the entries of an open transaction all but the last are known to have been durable. */
TEST(review_a4_hole_in_an_undo_log) {
  for (unsigned word = 0; method_is("undo") && word < WORDS; word++) {
    die_and_damage(false, word);
    if (word + 1 < WORDS) {
      check_refused();
    } else { /* as if the process had died before it */
      NVM_POOL *pool = test_open(test_path("pool"));
      const uint64_t *words = nvm_pool_root(pool);
      for (unsigned i = 0; i < word; i++)
        CHECK(words[GAP * i] == value_of(i, false));
      CHECK(nvm_pool_close(pool) == 0);
    }
    unlink(test_path("pool"));
  }
}

/* Of committed records all but the last. */
TEST(review_a4_hole_in_a_redo_log) {
  for (unsigned word = 0; method_is("shadow") && word < WORDS; word++) {
    die_and_damage(true, word);
    if (word + 1 < WORDS && !test_is_delayed()) {
      check_refused();
    } else {
      NVM_POOL *pool = test_open(test_path("pool"));
      const uint64_t *words = nvm_pool_root(pool);
      for (unsigned i = 0; i < word; i++)
        CHECK(words[GAP * i] == value_of(i, true));
      CHECK(nvm_pool_close(pool) == 0);
    }
    unlink(test_path("pool"));
  }
}

/* Short records in one bank, and then one of several frames, which goes to the start of the other. */
static void store_long_and_die(void *unused) {
  (void)unused;
  NVM_POOL *pool = test_create(test_path("pool"), 2 << 20);
  uint64_t *words = fill(pool);
  uint64_t *many = nvm_calloc(pool, 0, LONG_RECORD, sizeof *many);
  CHECK(many != NULL);
  for (unsigned i = 0; i < WORDS + FILLERS; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    STORE(*(i < WORDS ? &words[GAP * i] : &many[0]), i < WORDS ? value_of(i, true) : i);
    CHECK(nvm_tx_commit(pool) == 0);
  }
  CHECK(nvm_tx_begin(pool) == 0);
  for (unsigned i = 0; i < LONG_RECORD; i++)
    STORE(many[i], i);
  CHECK(nvm_tx_commit(pool) == 0);
}

/* A record that was torn in a bank's first frames hides nothing of the other bank: what is missing there
 * was in place already, or it is refused. It was replayed without what is missing. */
TEST(log_hole_behind_a_record_torn_at_a_switch) {
  unsigned opened = 0;
  bool killed = method_is("shadow") && !test_is_delayed();
  for (unsigned step = FILLERS; killed; step++) {
    char kill[32];
    snprintf(kill, sizeof kill, "append:%u", step);
    unlink(test_path("pool"));
    killed = test_was_killed(test_child(kill, store_long_and_die, NULL));
    if (!killed || !find(value_of(WORDS - 1, true), RECORDED, false) ||
        !damage(value_of(1, true), RECORDED))
      continue;
    NVM_POOL *pool = nvm_pool_open(test_path("pool"));
    opened += pool != NULL;
    if (!pool)
      continue;
    const uint64_t *words = nvm_pool_root(pool);
    CHECK(words[GAP] == value_of(1, true));
    CHECK(nvm_pool_close(pool) == 0);
  }
  CHECK(opened || !method_is("shadow") || test_is_delayed() ||
        !strcmp(getenv("NVMOVE_DOMAIN"), "disk"));
}

static void commit_and_die(void *unused) {
  (void)unused;
  uint64_t *words = fill(test_create(test_path("pool"), 1 << 20));
  CHECK(nvm_tx_begin(nvm_pool_of(words)) == 0);
  STORE(words[0], value_of(0, true));
  CHECK(nvm_tx_commit(nvm_pool_of(words)) == 0);
  raise(SIGKILL);
}

/* Flips a bit in the newest frame of a kind; false: there is none. */
static bool damage_newest(unsigned kind) {
  struct nvm_frame frame;
  uint64_t newest = 0, place = 0;
  int fd = open(test_path("pool"), O_RDWR);
  CHECK(fd >= 0);
  for (uint64_t at = 0; pread(fd, &frame, sizeof frame, (off_t)at) == sizeof frame; at += LINE)
    if (NVM_FRAME_KIND(&frame) == kind && frame.check && frame.transaction > newest &&
        NVM_FRAME_LENGTH(&frame) < LINE && frame.transaction >> 48 == 0) {
      newest = frame.transaction;
      place = at + offsetof(struct nvm_frame, order);
    }
  uint8_t byte;
  CHECK(!place || pread(fd, &byte, 1, (off_t)place) == 1);
  byte ^= 1;
  CHECK(!place || pwrite(fd, &byte, 1, (off_t)place) == 1);
  close(fd);
  return place;
}

/* A commit record that is written along with the data is retired when both are durable. */
TEST(review_a4_lost_record_that_was_retired) {
  if (!method_is("undo") || strcmp(getenv("NVMOVE_DOMAIN"), "power") != 0)
    return;
  unlink(test_path("pool"));
  CHECK(test_was_killed(test_child(NULL, commit_and_die, NULL)));
  CHECK(damage_newest(NVM_FRAME_COMMIT_CHECKED));
  check_refused();
}

static void look_for_option(void *found, enum nvm_repair_news news, const char *line) {
  *(bool *)found |= news == NVM_REPAIR_LEFT && strstr(line, "--drop-log");
}

/* The repair that may leave out what is damaged, and says so, opens it. One that may not names what may. */
TEST(review_a4_repaired_without) {
  bool named = false;
  struct nvm_repair how = {.report = look_for_option, .context = &named};
  if (test_is_delayed())
    test_skip("a record that no sync has covered may be missing (delayed_record_that_is_missing)");
  die_and_damage(method_is("shadow"), 1);
  check_refused();
  CHECK(nvm_pool_repair(test_path("pool"), &how) > 0 && named);
  how.drop_log = true;
  CHECK(nvm_pool_repair(test_path("pool"), &how) == 0);
  NVM_POOL *pool = test_open(test_path("pool"));
  CHECK(nvm_pool_close(pool) == 0);
}

enum { SLOTS_AT = 0x4000, NEXT = 8, LONG_WORDS = 40000 };

static void put(uint64_t at, uint64_t word) {
  int fd = open(test_path("pool"), O_WRONLY);
  CHECK(fd >= 0 && pwrite(fd, &word, sizeof word, (off_t)at) == sizeof word);
  close(fd);
}

/* Sets a word of the file to 0; gives what it was. */
static uint64_t lose(uint64_t at) {
  uint64_t word;
  int fd = open(test_path("pool"), O_RDONLY);
  CHECK(fd >= 0 && pread(fd, &word, sizeof word, (off_t)at) == sizeof word);
  close(fd);
  put(at, 0);
  return word;
}

/* Where the slots say that a bank begins, the logs of the pool seemed empty without them. */
TEST(log_slots_are_missed) {
  for (unsigned bank = 0; bank < 3; bank++) {
    unlink(test_path("pool"));
    CHECK(test_was_killed(test_child(NULL, store_and_die, method_is("shadow") ? &bank : NULL)));
    if (bank != 1)
      lose(SLOTS_AT);
    if (bank != 0)
      lose(SLOTS_AT + 8);
    check_refused();
  }
}

/* A transaction whose entries, or whose record, need several segments; and behind the record
 * another one. */
static void store_much_and_die(void *unused) {
  (void)unused;
  NVM_POOL *pool = test_create(test_path("pool"), 8 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t *words = nvm_calloc(pool, 0, LONG_WORDS, sizeof *words);
  CHECK(words && nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  for (unsigned i = 0; i <= LONG_WORDS; i++) {
    if (i % LONG_WORDS == 0)
      CHECK(nvm_tx_begin(pool) == 0);
    STORE(words[i % LONG_WORDS], i + 1);
    if (i >= LONG_WORDS - 1 && method_is("shadow"))
      CHECK(nvm_tx_commit(pool) == 0);
  }
  raise(SIGKILL);
}

TEST(log_links_are_missed) {
  unsigned found = 0;
  for (unsigned bank = 0; bank < 2; bank++) {
    unlink(test_path("pool"));
    CHECK(test_was_killed(test_child(NULL, store_much_and_die, NULL)));
    uint64_t segment = lose(SLOTS_AT + 8 * bank);
    put(SLOTS_AT + 8 * bank, segment);
    if (!lose(segment + NEXT))
      continue;
    check_refused();
    found++;
  }
  CHECK(found);
}

static struct {
  NVM_POOL *pool;
  pthread_mutex_t lock;
  _Atomic unsigned step;
} handing = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void store_under_lock(uint64_t *word, uint64_t value) {
  pthread_mutex_lock(&handing.lock);
  STORE(*word, value);
  pthread_mutex_unlock(&handing.lock);
}

/* Its commit fails, and what it undoes first are the entries that the abort handed to it. */
static void *depend(void *words) {
  while (handing.step < 1)
    sched_yield();
  CHECK(nvm_tx_begin(handing.pool) == 0);
  store_under_lock(words, value_of(0, true) + 1);
  for (unsigned i = 1; i < WORDS; i++)
    STORE(((uint64_t *)words)[GAP * i], value_of(i, true));
  handing.step = 2;
  while (handing.step < 3)
    sched_yield();
  CHECK_FAILS(nvm_tx_commit(handing.pool) == 0, NVM_EBROKEN);
  return NULL;
}

static void hand_entries_on(void *unused) {
  (void)unused;
  handing.pool = test_create(test_path("pool"), 1 << 20);
  uint64_t *words = fill(handing.pool);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, depend, words) == 0 && nvm_tx_begin(handing.pool) == 0);
  store_under_lock(words, value_of(0, true));
  handing.step = 1;
  while (handing.step < 2)
    sched_yield();
  CHECK(nvm_tx_abort(handing.pool) == 0);
  handing.step = 3;
  CHECK(pthread_join(thread, NULL) == 0);
}

/* What was handed on stands behind a transaction's own entries, and says no less of them. */
TEST(log_copies_hide_no_hole) {
  unsigned refused = 0;
  bool killed = method_is("undo");
  for (unsigned step = 1; killed; step++)
    for (unsigned word = 1; word + 1 < WORDS; word++) {
      char kill[32];
      snprintf(kill, sizeof kill, "commit:%u", step);
      unlink(test_path("pool"));
      killed = test_was_killed(test_child(kill, hand_entries_on, NULL));
      if (!killed || !damage(value_of(word, false), PAYLOAD))
        continue;
      NVM_POOL *pool = nvm_pool_open(test_path("pool"));
      refused += !pool;
      if (!pool)
        continue;
      const uint64_t *words = nvm_pool_root(pool);
      for (unsigned i = 0; words && i < WORDS; i++)
        CHECK(words[GAP * i] == value_of(i, false));
      CHECK(nvm_pool_close(pool) == 0);
    }
  CHECK(refused || !method_is("undo"));
}
