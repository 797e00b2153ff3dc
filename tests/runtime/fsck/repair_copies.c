/* repair_copies.c: what a repair keeps beside the pool, FILE.repair-N: which of several it is that a
 * repair goes on with, and what becomes of it where the pool cannot be written. */
#define _GNU_SOURCE
#include "damage.h"
#include "hooks.h"

#include "nvmove/repair.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static char sound[200], path[200];

static void prepare(void) {
  snprintf(sound, sizeof sound, "%s", test_path("sound"));
  snprintf(path, sizeof path, "%s", test_path("pool"));
  damage_sound(sound);
}

static const struct damage *kind_of(const char *name) {
  size_t i = 0;
  while (i < damage_count && strcmp(damage_kinds[i].name, name) != 0)
    i++;
  CHECK(i < damage_count);
  return &damage_kinds[i];
}

static char *kept(unsigned number) {
  static char name[300];
  snprintf(name, sizeof name, "%s.repair-%u", path, number);
  return name;
}

static void forget_copies(void) {
  for (unsigned i = 1; i < 10; i++)
    unlink(kept(i));
}

static uint64_t sum(void) {
  uint64_t sum = 0;
  FILE *file = fopen(path, "r");
  CHECK(file != NULL);
  for (int byte; (byte = getc_unlocked(file)) != EOF;)
    sum = (sum + (unsigned)byte) * UINT64_C(0x9e3779b97f4a7c15);
  fclose(file);
  return sum;
}

static void repair_here(void *unused) {
  struct nvm_repair how = {0};
  (void)unused;
  _exit(nvm_pool_repair(path, &how) == 0 ? 0 : 1);
}

static void damage(const char *name) { damage_copy(sound, path, kind_of(name)); }

static void repair_of(const char *name) {
  damage(name);
  CHECK(test_child(NULL, repair_here, NULL) == 0);
}

/* Numbers are used again: an old copy that was removed makes room, before or behind the others. */
static void die_among(const char *name, unsigned step, unsigned removed, uint64_t want) {
  char kill[32];
  forget_copies();
  repair_of("one_copy");
  repair_of("block_type");
  repair_of("segment_check");
  unlink(kept(removed));
  damage(name);
  snprintf(kill, sizeof kill, "repair:%u", step);
  CHECK(test_was_killed(test_child(kill, repair_here, NULL)));
  CHECK(access(kept(removed), F_OK) == 0);
  if (removed == 2)
    unlink(kept(1));
  if (test_child(NULL, repair_here, NULL) != 0 || sum() != want)
    test_fail(name, (int)step, "it did not go on with what that repair kept");
}

TEST_ONCE(repair_goes_on_with_its_own_copy) {
  prepare();
  static const char *const names[] = {"block_type", "one_copy", "run_kind"};
  bool all = test_is_long();
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    forget_copies();
    repair_of(names[i]);
    uint64_t want = sum();
    for (unsigned step = 2; step <= 6; step += all ? 1 : 2)
      for (unsigned removed = all ? 1 : 1 + step % 3; removed <= 3; removed += all ? 1 : 3)
        die_among(names[i], step, removed, want);
  }
}

/* Another's does not do, though each of its words is in the pool. */
TEST_ONCE(repair_goes_on_with_no_other_copy) {
  prepare();
  struct nvm_repair how = {0};
  repair_of("one_copy");
  CHECK(test_was_killed(test_child("repair:3", repair_here, NULL)) == false);
  damage("block_type");
  CHECK(test_was_killed(test_child("repair:3", repair_here, NULL)));
  unlink(kept(2));
  uint64_t before = sum();
  CHECK_FAILS(nvm_pool_repair(path, &how) >= 0, NVM_EMISSING);
  CHECK(strstr(nvm_strerror(), ".repair-N") && sum() == before);
}

/* Bytes of a file behind which this process may not write; the marks lie before that. */
enum { LIMIT = 64 << 10 };

static void limit(rlim_t bytes) {
  struct rlimit now;
  CHECK(getrlimit(RLIMIT_FSIZE, &now) == 0);
  now.rlim_cur = bytes;
  CHECK(setrlimit(RLIMIT_FSIZE, &now) == 0);
}

/* Marked, then partly written, and then no more: all is put back. */
TEST_ONCE(repair_that_cannot_write_changes_nothing) {
  prepare();
  static const char *const names[] = {"block_type", "truncated", "statics_cycle"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    struct nvm_repair how = {0};
    damage(names[i]);
    uint64_t before = sum();
    limit(LIMIT);
    CHECK_FAILS(nvm_pool_repair(path, &how) >= 0, NVM_ENOSPACE);
    limit(RLIM_INFINITY);
    CHECK(strstr(nvm_strerror(), "File too large; raise 'ulimit -f'"));
    if (sum() != before || *how.copy || access(kept(1), F_OK) == 0)
      test_fail(names[i], __LINE__, "it was changed, or a file is left");
    CHECK(nvm_pool_repair(path, &how) == 0);
    uint64_t after = sum();
    limit(LIMIT);
    bool undone =
        nvm_pool_repair_undo(path, kept(1)) == 0; /* to make it short again needs no more */
    limit(RLIM_INFINITY);
    CHECK(sum() == (undone ? before : after) && undone == (i == 1));
    CHECK(nvm_pool_repair_undo(path, kept(1)) == 0 && sum() == before);
    forget_copies();
  }
}

static unsigned steps;

static void write_no_more(enum nvmi_step step) {
  if (step == NVMI_STEP_REPAIR && ++steps == 4) /* the copy, two marks, a range */
    limit(0);
}

/* Nor can that be put back: it says so, and where what it takes is kept. */
TEST_ONCE(repair_that_cannot_put_back_says_so) {
  prepare();
  struct nvm_repair how = {0};
  repair_of("block_type");
  uint64_t want = sum();
  forget_copies();
  damage("block_type");
  setenv("NVMOVE_KILL_AT", "repair:1000000", 1); /* so that what is done asks the hook */
  hook_steps(write_no_more);
  CHECK_FAILS(nvm_pool_repair(path, &how) >= 0, NVM_ENOSPACE);
  const char *said = nvm_strerror();
  CHECK(strstr(said, "File too large") &&
        strstr(said, "cannot be opened before 'nvmove pool repair'"));
  CHECK(strstr(said, kept(1)) && strcmp(how.copy, kept(1)) == 0);
  CHECK_FAILS(nvm_pool_repair(path, &how) >= 0, NVM_ENOSPACE); /* nor can it go on */
  CHECK(strstr(nvm_strerror(), "cannot be opened before 'nvmove pool repair'"));
  limit(RLIM_INFINITY);
  CHECK(nvm_pool_repair(path, &how) == 0 && sum() == want);
}

static void listen(void *heard, enum nvm_repair_news news, const char *line) {
  if (news == NVM_REPAIR_MENDED)
    snprintf(heard, 512, "%s", line);
}

/* A dry run says what a repair would go on with, and writes nothing. */
TEST_ONCE(repair_that_is_dry_finishes_nothing) {
  prepare();
  char heard[512] = "";
  struct nvm_repair how = {.dry_run = true, .report = listen, .context = heard};
  damage("block_type");
  CHECK(test_was_killed(test_child("repair:3", repair_here, NULL)));
  uint64_t before = sum();
  CHECK(nvm_pool_repair(path, &how) == 0 && sum() == before && !*how.copy);
  CHECK(strstr(heard, "was interrupted") && strstr(heard, kept(1)));
  unlink(kept(1));
  CHECK_FAILS(nvm_pool_repair(path, &how) >= 0, NVM_EMISSING);
  CHECK(sum() == before);
}
