/* repair_links.c: the table of static data whose links are lost: a link that is zero ends a table as
 * well as the last one does, so the runs that no link leads to tell. */
#include "base/checksum.h"
#include "harness.h"
#include "heap/heap_types.h"
#include "store.h"

#include "nvmove/repair.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PLACE_ID = 7453, PLACES = 400, RUNS = 4 };

/* Each byte is a place of its own. */
static const char bytes[PLACES] = "places";

static void describe(void) {
  static const struct nvm_field fields[] = {
      {.name = "at", .count = 1, .stride = 8, .kind = NVM_FIELD_STATIC_POINTER}};
  static const struct nvm_type type = {.id = PLACE_ID,
                                       .name = "struct place",
                                       .members = "",
                                       .size = 8,
                                       .alignment = 8,
                                       .field_count = 1,
                                       .fields = fields};
  const struct nvm_type *types[] = {&type};
  __nvm_describe(types, types + 1);
}

static void make(const char *path) {
  describe();
  NVM_POOL *pool = test_create(path, 4 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  const char **places = nvm_calloc(pool, PLACE_ID, PLACES, sizeof *places);
  CHECK(places && nvm_pool_set_root(pool, places) == 0);
  for (int i = 0; i < PLACES; i++)
    STORE(places[i], bytes + i);
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
}

static uint64_t word_at(const char *path, uint64_t at) {
  uint64_t word;
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0 && pread(fd, &word, 8, (off_t)at) == 8);
  close(fd);
  return word;
}

static void put_word(const char *path, uint64_t at, uint64_t word) {
  int fd = open(path, O_RDWR);
  CHECK(fd >= 0 && pwrite(fd, &word, 8, (off_t)at) == 8);
  close(fd);
}

/* Where the links stand, and what they say; gives how many. */
static unsigned links_of(const char *path, uint64_t *at, uint64_t *to) {
  unsigned count = 0;
  for (uint64_t link = NVM_STATICS_OFFSET; link && count < RUNS + 2; count++) {
    at[count] = link;
    to[count] = word_at(path, link);
    link = to[count] ? to[count] + offsetof(struct nvm_statics_run, next) : 0;
  }
  return count;
}

static void listen(void *heard, const char *line) { snprintf(heard, 512, "%s", line); }

static void lose(const char *path, uint64_t at, uint64_t was, uint64_t is) {
  char heard[512] = "";
  struct nvm_repair how = {0};
  put_word(path, at, is);
  long long faults = nvm_pool_check(path, listen, heard);
  CHECK(faults && (faults < 0 || strstr(heard, "table of static data")));
  CHECK(nvm_pool_repair(path, &how) == 0 && *how.copy && word_at(path, at) == was);
  CHECK(nvm_pool_check(path, test_print_fault, NULL) == 0);
}

TEST_ONCE(repair_of_links_that_are_lost) {
  char path[200];
  uint64_t at[RUNS + 2], to[RUNS + 2];
  snprintf(path, sizeof path, "%s", test_path("pool"));
  make(path);
  unsigned count = links_of(path, at, to);
  CHECK(count > RUNS);
  for (unsigned i = 0; i + 1 < count; i++) {
    lose(path, at[i], to[i], 0);        /* it ends there */
    lose(path, at[i], to[i], 0x777777); /* it leads astray */
    if (i)
      lose(path, at[i], to[i], to[0]); /* it leads back */
  }
  lose(path, at[count - 1], 0, to[1]);
  CHECK(links_of(path, at, to) == count);
  NVM_POOL *pool = test_open(path);
  const char **places = nvm_pool_root(pool);
  for (int i = 0; i < PLACES; i++)
    CHECK(places[i] == bytes + i);
  CHECK(nvm_pool_close(pool) == 0);
}

/* Both copies of the header say so. */
static void set_state(const char *path, enum nvm_statics_state state) {
  struct nvm_header header;
  int fd = open(path, O_RDWR);
  CHECK(fd >= 0 && pread(fd, &header, sizeof header, 0) == sizeof header);
  header.statics = state;
  header.check = 0;
  header.check = nvmi_check(&header, sizeof header, 0);
  for (unsigned i = 0; i < 2; i++)
    CHECK(pwrite(fd, &header, sizeof header, i * NVM_HEADER_COPY_SIZE) == sizeof header);
  close(fd);
}

/* While pointers are numbers of entries the runs have to keep their order: one link that is lost
 * leaves no choice, a run that was jumped over does. */
TEST_ONCE(repair_keeps_the_order_of_tokens) {
  char path[200];
  uint64_t at[RUNS + 2], to[RUNS + 2];
  struct nvm_repair how = {.tables_only = true};
  snprintf(path, sizeof path, "%s", test_path("pool"));
  make(path);
  CHECK(links_of(path, at, to) > RUNS);
  set_state(path, NVM_STATICS_MIXED);
  put_word(path, at[1], 0);
  CHECK(nvm_pool_repair(path, &how) == 0 && *how.copy && word_at(path, at[1]) == to[1]);
  put_word(path, at[1], to[2]);
  CHECK(nvm_pool_repair(path, &how) == 1 && !*how.copy && word_at(path, at[1]) == to[2]);
}
