/* repair_large.c: a large block whose word names no type: its type is what the pointers to it say, or
 * somebody says that it goes. */
#include "harness.h"
#include "heap/heap_types.h"
#include "store.h"

#include "nvmove/repair.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { HOLDER_ID = 7451, ITEM_ID, ITEMS = 9000 };

struct item {
  void (*act)(void);
  long number;
};
struct holder {
  struct item *items;
  void *any;
};

static void describe(void) {
  static const struct nvm_field item[] = {
      {.name = "act", .count = 1, .stride = 8, .kind = NVM_FIELD_FUNCTION}};
  static const struct nvm_field holder[] = {
      {.name = "items", .count = 1, .stride = 8, .kind = NVM_FIELD_POINTER, .target = ITEM_ID},
      {.name = "any", .offset = 8, .count = 1, .stride = 8, .kind = NVM_FIELD_POINTER}};
  static const struct nvm_type item_type = {.id = ITEM_ID,
                                            .name = "struct item",
                                            .members = "",
                                            .size = sizeof(struct item),
                                            .alignment = 8,
                                            .field_count = 1,
                                            .fields = item};
  static const struct nvm_type holder_type = {.id = HOLDER_ID,
                                              .name = "struct holder",
                                              .members = "",
                                              .size = sizeof(struct holder),
                                              .alignment = 8,
                                              .field_count = 2,
                                              .fields = holder};
  const struct nvm_type *types[] = {&item_type, &holder_type};
  __nvm_describe(types, types + 2);
}

/* Gives the place of the block's word in the file. `typed`: what leads to it says its type. */
static off_t make(const char *path, bool typed) {
  describe();
  NVM_POOL *pool = test_create(path, 4 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  struct holder *holder = nvm_calloc(pool, HOLDER_ID, 1, sizeof *holder);
  struct item *items = nvm_calloc(pool, ITEM_ID, ITEMS, sizeof *items);
  CHECK(holder && items && nvm_pool_set_root(pool, holder) == 0);
  if (typed)
    STORE(holder->items, items);
  else
    STORE(holder->any, items);
  uint64_t offset = (uint64_t)((char *)items - (char *)pool->work) - pool->header.heap_offset;
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
  return (off_t)(NVM_CHUNKS_OFFSET + 8 * (offset >> NVM_CHUNK_SHIFT));
}

static uint64_t word_at(const char *path, off_t at) {
  uint64_t word;
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0 && pread(fd, &word, 8, at) == 8);
  close(fd);
  return word;
}

static void put_word(const char *path, off_t at, uint64_t word) {
  int fd = open(path, O_RDWR);
  CHECK(fd >= 0 && pwrite(fd, &word, 8, at) == 8);
  close(fd);
}

static void listen(void *context, enum nvm_repair_news news, const char *line) {
  (void)news;
  snprintf(context, 512, "%s", line);
}

TEST_ONCE(repair_of_a_large_block_of_no_type) {
  const char *path = test_path("pool");
  char heard[512] = "";
  off_t at = make(path, true);
  uint64_t right = word_at(path, at);
  CHECK((right & 0xff) == NVM_CHUNK_LARGE && (right >> 16 & 0xffff));
  /* the type alone; then the length, too */
  const uint64_t damages[] = {UINT64_C(0x8000) << 16, UINT64_C(0x8000) << 16 | UINT64_C(0x70)
                                                                                   << 56};
  for (unsigned i = 0; i < 2; i++) {
    struct nvm_repair how = {.report = listen, .context = heard};
    put_word(path, at, right ^ damages[i]);
    CHECK(nvm_pool_repair(path, &how) == 0 && word_at(path, at) == right);
    CHECK(strstr(heard, "of type struct item, as what leads to it says"));
  }
}

TEST_ONCE(repair_of_a_large_block_whose_type_is_lost) {
  const char *path = test_path("pool");
  char heard[512] = "";
  struct nvm_repair how = {.report = listen, .context = heard};
  off_t at = make(path, false);
  uint64_t damaged = word_at(path, at) ^ UINT64_C(0x8000) << 16;
  put_word(path, at, damaged);
  CHECK(nvm_pool_repair(path, &how) == 1 && word_at(path, at) == damaged && !*how.copy);
  CHECK(strstr(heard, "its type is lost") && strstr(heard, "--forget-types"));
  how.forget_types = true;
  CHECK(nvm_pool_repair(path, &how) == 0);
  CHECK(word_at(path, at) == (damaged & ~(UINT64_C(0xffff) << 16)));
}
