/* repair_copies.c: what a repair keeps beside the pool, FILE.repair-N: which of several it is that a
 * repair goes on with, and what becomes of it where the pool cannot be written. */
#define _GNU_SOURCE
#include "damage.h"

#include "nvmove/repair.h"

#include <fcntl.h>
#include <string.h>
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
  static const char *const names[] = {"block_type", "run_kind", "one_copy"};
  for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
    forget_copies();
    repair_of(names[i]);
    uint64_t want = sum();
    for (unsigned step = 2; step <= 6; step++)
      for (unsigned removed = 1; removed <= 3; removed++)
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
