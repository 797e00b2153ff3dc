/* repair.c: nvm_pool_repair: each kind of damage is mended, or left with a reason; what the root
 * leads to is as it was; what was changed can be put back; a death meanwhile does no harm. */
#define _GNU_SOURCE
#include "bound.h"
#include "core/header.h"
#include "damage.h"
#include "format/layout.h"
#include "simulation.h"
#include "sparse.h"

#include "nvmove/repair.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct bytes {
  char *at;
  size_t size;
};

static struct bytes read_file(const char *path) {
  int fd = open(path, O_RDONLY);
  struct stat status;
  CHECK(fd >= 0 && fstat(fd, &status) == 0);
  struct bytes bytes = {malloc((size_t)status.st_size), (size_t)status.st_size};
  CHECK(bytes.at && read(fd, bytes.at, bytes.size) == (ssize_t)bytes.size);
  close(fd);
  return bytes;
}

static bool is_equal(const char *path, const struct bytes *bytes) {
  struct bytes now = read_file(path);
  bool equal = now.size == bytes->size && memcmp(now.at, bytes->at, now.size) == 0;
  free(now.at);
  return equal;
}

struct heard {
  char mended[512], left[512]; /* the first of each */
};

static void hear(void *context, enum nvm_repair_news news, const char *line) {
  struct heard *heard = context;
  char *to = news == NVM_REPAIR_MENDED ? heard->mended : heard->left;
  if (!*to)
    snprintf(to, 512, "%s", line);
}

static struct nvm_repair repair_of(struct heard *heard) {
  *heard = (struct heard){"", ""};
  return (struct nvm_repair){.report = hear, .context = heard};
}

static void repair_with(struct nvm_repair *how, enum damage_cure cure, const char *sound) {
  uint64_t root[2] = {0, 0};
  int fd = open(sound, O_RDONLY);
  CHECK(pread(fd, &root[0], 8, NVM_ROOT_OFFSET) == 8);
  CHECK(pread(fd, &root[1], 8, offsetof(struct nvm_header, base)) == 8);
  close(fd);
  how->null_dangling = cure == CURE_NULL;
  how->forget_types = cure == CURE_FORGET;
  how->root = cure == CURE_ROOT ? root[0] - root[1] : 0;
}

/* By itself nothing is given up: what takes a cure of its own is named and stays. */
static void repair_alone(const struct damage *kind, const char *path) {
  struct heard heard;
  char still[512];
  struct nvm_repair how = repair_of(&heard);
  long long left = nvm_pool_repair(path, &how);
  if (kind->cure == CURE_REPAIR ? left != 0 || !*heard.mended
      : kind->cure == CURE_NONE ? left != -1
                                : left != 1 || !*heard.left)
    test_fail(kind->name, (int)left, *heard.left ? heard.left : heard.mended);
  damage_judge(path, still);
  if ((kind->cure == CURE_REPAIR) != !*still)
    test_fail(kind->name, (int)left, *still ? still : "nothing is wrong any more");
}

static void verify(const struct damage *kind, const char *path) {
  char still[512];
  damage_judge(path, still);
  if (*still)
    test_fail(kind->name, __LINE__, still);
  NVM_POOL *pool = test_open(path);
  if (kind->cure == CURE_REPAIR || kind->cure == CURE_ROOT)
    bound_verify(pool, DAMAGE_NODES);
  CHECK(nvm_pool_close(pool) == 0);
}

static void mend_one(const struct damage *kind, const char *sound, const char *path) {
  struct heard heard;
  damage_copy(sound, path, kind);
  struct bytes damaged = read_file(path);
  struct nvm_repair how = repair_of(&heard);
  how.dry_run = true;
  nvm_pool_repair(path, &how);
  CHECK(is_equal(path, &damaged) && !*how.copy);
  repair_alone(kind, path);
  if (kind->cure == CURE_NONE) {
    CHECK(is_equal(path, &damaged));
    free(damaged.at);
    return;
  }
  damage_copy(sound, path, kind);
  how = repair_of(&heard);
  repair_with(&how, kind->cure, sound);
  if (nvm_pool_repair(path, &how) != 0 || !*heard.mended)
    test_fail(kind->name, __LINE__, *heard.left ? heard.left : "nothing was mended");
  CHECK(*how.copy);
  CHECK(nvm_pool_repair_undo(path, how.copy) == 0);
  CHECK(is_equal(path, &damaged));
  struct nvm_repair again = repair_of(&heard);
  repair_with(&again, kind->cure, sound);
  CHECK(nvm_pool_repair(path, &again) == 0);
  verify(kind, path);
  CHECK_FAILS(nvm_pool_repair_undo(path, again.copy) == 0, NVM_ECORRUPT); /* it was opened since */
  free(damaged.at);
}

static void paths(char *sound, char *path, size_t room) {
  snprintf(sound, room, "%s", test_path("sound"));
  snprintf(path, room, "%s", test_path("pool"));
  damage_sound(sound);
}

TEST_ONCE(repair_mends_what_is_not_lost) {
  char sound[200], path[200];
  paths(sound, path, sizeof sound);
  struct heard heard;
  struct nvm_repair how = repair_of(&heard);
  CHECK(nvm_pool_repair(sound, &how) == 0 && !*how.copy && !*heard.mended);
  for (size_t i = test_is_long() ? 0 : test_seed() % 7; i < damage_count;
       i += test_is_long() ? 1 : 7)
    mend_one(&damage_kinds[i], sound, path);
}

static void repair_here(void *path) {
  struct heard heard;
  struct nvm_repair how = repair_of(&heard);
  _exit(nvm_pool_repair(path, &how) == 0 ? 0 : 1);
}

static void forget_copies(const char *path) {
  char name[300];
  for (unsigned i = 1; i < 10; i++) {
    snprintf(name, sizeof name, "%s.repair-%u", path, i);
    unlink(name);
  }
}

/* What a repair that nothing disturbs makes of it. */
static struct bytes repaired(const char *sound, char *path, const struct damage *kind) {
  forget_copies(path);
  damage_copy(sound, path, kind);
  CHECK(test_child(NULL, repair_here, path) == 0);
  struct bytes bytes = read_file(path);
  forget_copies(path);
  return bytes;
}

/* No opening sees what is half done: it fails, or the pool is whole. */
static void open_whole(void *path) {
  char probe[300];
  snprintf(probe, sizeof probe, "%s.probe", (const char *)path);
  sparse_copy(path, probe);
  NVM_POOL *pool = nvm_pool_open(probe);
  if (pool)
    bound_verify(pool, DAMAGE_NODES);
  else
    CHECK(nvm_errno() == NVM_ECORRUPT);
}

static void die_everywhere(const struct damage *kind, const char *sound, char *path) {
  struct bytes want = repaired(sound, path, kind);
  unsigned step = 1;
  for (bool killed = true; killed; step++) {
    char kill[32];
    snprintf(kill, sizeof kill, "repair:%u", step);
    damage_copy(sound, path, kind);
    killed = test_was_killed(test_child(kill, repair_here, path));
    if (killed && step > 3) /* from the second mark on */
      CHECK(test_child(NULL, open_whole, path) == 0);
    CHECK(test_child(NULL, repair_here, path) == 0);
    if (!is_equal(path, &want))
      test_fail(kind->name, (int)step, "another outcome after a death");
    forget_copies(path);
  }
  CHECK(step > 6);
  free(want.at);
}

/* Where each part of a repair writes; all kinds would take minutes. */
static const char *const written[] = {"magic",      "truncated",  "segment_check", "segment_kind",
                                      "run_length", "block_type", "statics_cycle", "type_entry"};

static bool is_written(const struct damage *kind) {
  for (size_t i = 0; i < sizeof written / sizeof *written; i++)
    if (strcmp(written[i], kind->name) == 0)
      return true;
  return false;
}

TEST_ONCE(repair_goes_on_after_a_death) {
  char sound[200], path[200];
  paths(sound, path, sizeof sound);
  for (size_t i = 0; i < damage_count; i++)
    if (is_written(&damage_kinds[i]))
      die_everywhere(&damage_kinds[i], sound, path);
}

/* The power fails while the ranges are written: of those any words may have arrived. */
static void lose_words(const struct damage *kind, const char *sound, char *path, unsigned seed) {
  struct bytes want = repaired(sound, path, kind);
  damage_copy(sound, path, kind);
  CHECK(test_was_killed(test_child("repair:3", repair_here, path))); /* copy, mark, mark */
  struct bytes now = read_file(path);
  int fd = open(path, O_RDWR);
  CHECK(fd >= 0);
  for (size_t at = 8192; at + 8 <= now.size && at + 8 <= want.size; at += 8)
    if (memcmp(now.at + at, want.at + at, 8) != 0 && rand_r(&seed) % 2)
      CHECK(pwrite(fd, want.at + at, 8, (off_t)at) == 8);
  close(fd);
  CHECK_FAILS(nvm_pool_open(path), NVM_ECORRUPT);
  CHECK(strstr(nvm_strerror(), "a repair was interrupted"));
  CHECK(test_child(NULL, repair_here, path) == 0 && is_equal(path, &want));
  free(now.at);
  free(want.at);
}

TEST_ONCE(repair_goes_on_after_a_power_failure) {
  char sound[200], path[200];
  paths(sound, path, sizeof sound);
  for (size_t i = 0; i < damage_count; i++)
    if (is_written(&damage_kinds[i]))
      lose_words(&damage_kinds[i], sound, path, (unsigned)(i + 1 + test_seed()));
}

/* A list of three; the fourth is put when the process dies: its node's bytes are in the file, undo.
 */
static void die_in_transaction(void *path) {
  NVM_POOL *pool = nvm_pool_create(path, 1 << 20);
  CHECK(pool);
  bound_fill(pool, 0, 3);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_pool_set_root(pool, NULL) == 0);
  _exit(0); /* without what exit does */
}

static void spoil(const char *path, uint64_t link, uint64_t field, uint64_t value) {
  int fd = open(path, O_RDWR);
  uint64_t at = 0;
  CHECK(pread(fd, &at, 8, (off_t)link) == 8 && at);
  CHECK(pwrite(fd, &value, 8, (off_t)(at + field)) == 8);
  close(fd);
}

static void spoil_at(const char *path, uint64_t at, uint64_t value) {
  int fd = open(path, O_RDWR);
  CHECK(fd >= 0 && pwrite(fd, &value, 8, (off_t)at) == 8);
  close(fd);
}

static void opens_with(const char *path, unsigned nodes) {
  NVM_POOL *pool = test_open(path);
  bound_verify(pool, nodes);
  CHECK(nvm_pool_close(pool) == 0);
}

/* The log of a pool that was not closed is needed: its chain is put together again, and it is read.
 */
TEST_ONCE(repair_of_a_log_that_counts) {
  char path[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  for (uint64_t field = 0; field < offsetof(struct nvm_segment, reserved0); field += 8)
    for (unsigned bank = 0; bank < 2; bank++) {
      if (field == offsetof(struct nvm_segment, next))
        continue; /* leads astray: below */
      struct heard heard;
      struct nvm_repair how = repair_of(&heard);
      test_child(NULL, die_in_transaction, path);
      spoil(path, NVM_SLOTS_OFFSET + 8 * bank, field, UINT64_C(0x12300456));
      CHECK_FAILS(nvm_pool_open(path), NVM_ECORRUPT);
      if (nvm_pool_repair(path, &how) != 0)
        test_fail("segment", (int)field, heard.left);
      CHECK(strstr(heard.mended, "is whole again"));
      opens_with(path, 3);
      unlink(path);
      forget_copies(path);
    }
}

/* What cannot be found again is cut off only when that was asked for. */
TEST_ONCE(repair_of_a_log_that_is_lost) {
  struct heard heard;
  struct nvm_repair how = repair_of(&heard);
  char path[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  test_child(NULL, die_in_transaction, path);
  spoil(path, NVM_SLOTS_OFFSET, offsetof(struct nvm_segment, next), 0x12345);
  struct bytes damaged = read_file(path);
  CHECK(nvm_pool_repair(path, &how) == 1 && strstr(heard.left, "cannot be undone"));
  CHECK(is_equal(path, &damaged));
  how = repair_of(&heard);
  how.drop_log = true;
  CHECK(nvm_pool_repair(path, &how) == 0 && strstr(heard.mended, "cut off"));
  NVM_POOL *pool = test_open(path);
  CHECK(nvm_pool_root(pool) == NULL); /* half done */
  CHECK(nvm_pool_close(pool) == 0);
  free(damaged.at);
}

/* Which format the log of a pool on a disk has is known no more: its entries are not read by a guess. */
TEST_ONCE(repair_of_a_log_whose_format_is_lost) {
  static const uint32_t domains[] = {NVM_DOMAIN_PROCESS, NVM_DOMAIN_POWER, NVM_DOMAIN_DISK};
  char path[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  for (unsigned i = 0; i < 3; i++) {
    struct heard heard;
    struct nvm_repair how = repair_of(&heard);
    test_child(NULL, die_in_transaction, path);
    struct nvm_header h;
    int fd = open(path, O_RDWR);
    CHECK(fd >= 0 && pread(fd, &h, sizeof h, 0) == sizeof h);
    h.log_format = 99;
    h.domain = domains[i];
    h.check = nvmi_header_check(&h);
    CHECK(pwrite(fd, &h, sizeof h, 0) == sizeof h);
    CHECK(pwrite(fd, &h, sizeof h, NVM_HEADER_COPY_SIZE) == sizeof h);
    close(fd);
    if (domains[i] == NVM_DOMAIN_DISK) {
      CHECK_FAILS(nvm_pool_repair(path, &how) == 0, NVM_ECORRUPT);
      CHECK(strstr(nvm_strerror(), "log format cannot be made out"));
      how.drop_log = true;
    }
    CHECK(nvm_pool_repair(path, &how) == 0 && strstr(heard.mended, "log format"));
    NVM_POOL *pool = test_open(path);
    CHECK(nvm_pool_close(pool) == 0);
    unlink(path);
    forget_copies(path);
  }
}

/* What is mended may be a reference: counts are made anew before the next release frees by them. */
TEST_ONCE(repair_of_a_pool_that_counts) {
  struct heard heard;
  struct nvm_repair how = repair_of(&heard);
  struct nvm_account account;
  uint64_t blocks = 0;
  char path[200];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  NVM_POOL *pool = test_create(path, 16 << 20);
  bound_fill(pool, 0, 3);
  CHECK(nvm_pool_count_references(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  spoil(path, NVM_SLOTS_OFFSET, 0, 1);
  CHECK(nvm_pool_repair(path, &how) == 0 && *heard.mended);
  pool = test_open(path);
  CHECK(nvm_pool_account(pool, &account) == 0 && account.counts_references);
  CHECK(account.counts_stale && nvm_pool_release(pool, &blocks) == 0 && blocks == 0);
  CHECK(nvm_pool_account(pool, &account) == 0 && !account.counts_stale);
  CHECK(nvm_pool_close(pool) == 0);
  forget_copies(path);
  spoil(path, offsetof(struct nvm_header, counts), 8, 77); /* self */
  how = repair_of(&heard);
  CHECK(nvm_pool_repair(path, &how) == 0 && strstr(heard.mended, "counted no longer"));
  pool = test_open(path);
  CHECK(nvm_pool_account(pool, &account) == 0 && !account.counts_references);
  bound_verify(pool, 3);
  CHECK(nvm_pool_count_references(pool) == 0 && nvm_pool_close(pool) == 0);
  test_check_pool(path);
}

/* All entries are zero, as if no type had ever been entered: what the pool has blocks of is lost,
 * and nothing of it is given up before somebody says so. */
TEST_ONCE(repair_of_types_that_are_gone) {
  char path[200], copy[300];
  struct heard heard;
  struct nvm_repair how = repair_of(&heard);
  snprintf(path, sizeof path, "%s", test_path("pool"));
  damage_sound(path);
  for (uint64_t at = 0; at < 64; at += 8)
    spoil_at(path, NVM_TYPES_OFFSET + 32 + at, 0);
  struct bytes damaged = read_file(path);
  CHECK(nvm_pool_repair(path, &how) == 2 && strstr(heard.left, "type 1: its entry is gone"));
  CHECK(!*heard.mended && is_equal(path, &damaged));
  how = repair_of(&heard);
  how.forget_types = true;
  CHECK(nvm_pool_repair(path, &how) == 0 && strstr(heard.mended, "type 1: its entry was gone"));
  snprintf(copy, sizeof copy, "%s", how.copy);
  CHECK(nvm_pool_repair_undo(path, copy) == 0 && is_equal(path, &damaged));
  free(damaged.at);
}

/* Damage behind the last entry: no type is missing, and nothing is said of one. */
TEST_ONCE(repair_of_an_entry_that_no_type_has) {
  char path[200];
  struct heard heard;
  struct nvm_repair how = repair_of(&heard);
  snprintf(path, sizeof path, "%s", test_path("pool"));
  damage_sound(path);
  spoil_at(path, NVM_TYPES_OFFSET + 32 * 290 + 8, 0x1234567);
  struct bytes damaged = read_file(path);
  CHECK(nvm_pool_repair(path, &how) == 0 && !*heard.left && !*heard.mended);
  CHECK(is_equal(path, &damaged));
  free(damaged.at);
}
