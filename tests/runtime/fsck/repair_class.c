/* repair_class.c: a span whose size class was damaged to another one that makes sense, one whose
 * table was, and words of runs in pools without types. */
#include "harness.h"
#include "heap/heap_spans.h"
#include "heap/heap_types.h"
#include "store.h"

#include "nvmove/repair.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCKS = 200, BLOCK = 80 };

static char *read_file(const char *path, size_t *size) {
  struct stat status;
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0 && fstat(fd, &status) == 0);
  char *bytes = malloc(*size = (size_t)status.st_size);
  CHECK(bytes && read(fd, bytes, *size) == (ssize_t)*size);
  close(fd);
  return bytes;
}

static void write_file(const char *path, const char *bytes, size_t size) {
  int fd = open(path, O_WRONLY | O_TRUNC);
  CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
  close(fd);
}

static void make(const char *path) {
  NVM_POOL *pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  char **all = nvm_calloc(pool, 0, BLOCKS, sizeof *all);
  CHECK(nvm_pool_set_root(pool, all) == 0);
  for (unsigned i = 0; i < BLOCKS; i++) {
    char text[BLOCK];
    memset(text, 'a' + (int)(i % 26), sizeof text); /* no word of it is a type */
    char *made = nvm_alloc(pool, 0, BLOCK);
    store_bytes(made, text, sizeof text);
    STORE(all[i], made);
  }
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
}

/* Blocks stay as they are, whether the class is found again or not. */
TEST_ONCE(repair_leaves_blocks_of_a_wrong_class) {
  const char *path = test_path("pool");
  size_t size, after_size;
  make(path);
  char *sound = read_file(path, &size);
  const struct nvm_header *header = (const void *)sound;
  uint64_t *words = (uint64_t *)(void *)(sound + NVM_CHUNKS_OFFSET);
  unsigned tried = 0;
  for (uint64_t chunk = 0; chunk < header->heap_size >> NVM_CHUNK_SHIFT; chunk++) {
    uint64_t right = words[chunk];
    for (unsigned class = 0; (right & 0xff) == NVM_CHUNK_SMALL && class < NVMI_CLASSES; class ++) {
      struct nvmi_span shape;
      nvmi_span_shape(&shape, class);
      if (shape.chunks != right >> 32 || class == (right >> 8 & 0xff))
        continue;
      words[chunk] = (right & ~UINT64_C(0xff00)) | (uint64_t)class << 8;
      write_file(path, sound, size);
      struct nvm_repair how = {0};
      CHECK(nvm_pool_repair(path, &how) >= 0);
      char *after = read_file(path, &after_size);
      CHECK(after_size == size);
      CHECK(memcmp(after + header->heap_offset, sound + header->heap_offset, header->heap_size) ==
            0);
      free(after);
      tried++;
      words[chunk] = right;
    }
  }
  CHECK(tried > 10);
  free(sound);
}

/* Blocks without type, of several sizes; all that leads to them are words that nobody decides. */
static void make_sizes(const char *path) {
  static const size_t sizes[] = {24, BLOCK, 176, 208, 1000, 3000};
  NVM_POOL *pool = test_create(path, 4 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  char **all = nvm_calloc(pool, 0, BLOCKS, sizeof *all);
  CHECK(nvm_pool_set_root(pool, all) == 0);
  for (unsigned i = 0; i < BLOCKS; i++) {
    char *made = nvm_calloc(pool, 0, 1, sizes[i % (sizeof sizes / sizeof *sizes)]);
    STORE(all[i], made);
  }
  CHECK(nvm_tx_commit(pool) == 0 && nvm_pool_close(pool) == 0);
}

struct words {
  uint64_t *at; /* of runs */
  uint64_t chunks;
};

static struct words words_of(char *bytes) {
  const struct nvm_header *header = (const void *)bytes;
  return (struct words){(uint64_t *)(void *)(bytes + NVM_CHUNKS_OFFSET),
                        header->heap_size >> NVM_CHUNK_SHIFT};
}

/* Repairs what `bytes` say. Gives the word of a run afterwards; `*left`: and how many faults. */
static uint64_t word_after(const char *path, const char *bytes, size_t size, uint64_t chunk,
                           long long *left) {
  struct nvm_repair how = {0};
  uint64_t word;
  write_file(path, bytes, size);
  CHECK((*left = nvm_pool_repair(path, &how)) >= 0);
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0 && pread(fd, &word, 8, (off_t)(NVM_CHUNKS_OFFSET + 8 * chunk)) == 8);
  close(fd);
  if (*how.copy)
    unlink(how.copy);
  return word;
}

/* Two words of a table say nothing about the class of its blocks. */
TEST_ONCE(repair_keeps_the_class_of_a_rotten_table) {
  const char *path = test_path("pool");
  size_t size;
  make_sizes(path);
  char *bytes = read_file(path, &size);
  struct words words = words_of(bytes);
  const struct nvm_header *header = (const void *)bytes;
  unsigned tried = 0;
  for (uint64_t chunk = 0; chunk < words.chunks; chunk++) {
    struct nvmi_span shape;
    uint64_t right = words.at[chunk];
    if ((right & 0xff) != NVM_CHUNK_SMALL)
      continue;
    nvmi_span_shape(&shape, right >> 8 & 0xff);
    char *table = bytes + header->heap_offset + (chunk << NVM_CHUNK_SHIFT);
    for (uint32_t i = 0; i + 1 < shape.blocks && i < 96; i += 8) {
      uint32_t sound, rotten = UINT32_C(0x9d374b11);
      long long left;
      memcpy(&sound, table + 2 * i, sizeof sound);
      memcpy(table + 2 * i, &rotten, sizeof rotten);
      CHECK(word_after(path, bytes, size, chunk, &left) == right);
      memcpy(table + 2 * i, &sound, sizeof sound);
      tried++;
    }
  }
  CHECK(tried > 20);
  free(bytes);
}

/* What leads to blocks are words that nobody decides: they count, or nothing is written. */
TEST_ONCE(repair_of_a_run_that_only_undecided_words_lead_to) {
  const char *path = test_path("pool");
  unsigned seed = 1 + (unsigned)test_seed(), mended = 0;
  size_t size;
  make_sizes(path);
  char *bytes = read_file(path, &size);
  struct words words = words_of(bytes);
  for (uint64_t chunk = 0; chunk < words.chunks; chunk++) {
    uint64_t right = words.at[chunk];
    for (unsigned i = 0; i < 8 && (right & 0xff) == NVM_CHUNK_SMALL; i++) {
      long long left;
      uint64_t high = (uint64_t)rand_r(&seed) << 33;
      uint64_t rotten = words.at[chunk] = high | (uint64_t)rand_r(&seed) << 8 | (0x70 + i);
      uint64_t now = word_after(path, bytes, size, chunk, &left);
      CHECK(left ? now == rotten : (now & ~NVM_SPAN_STATICS) == right);
      mended += !left;
    }
    words.at[chunk] = right;
  }
  CHECK(mended > 8);
  free(bytes);
}

/* Where the table is used up to its end, it shows under a class of fewer blocks. */
TEST_ONCE(check_finds_a_table_that_goes_on) {
  const char *path = test_path("pool");
  size_t size;
  make(path);
  char *bytes = read_file(path, &size);
  struct words words = words_of(bytes);
  const struct nvm_header *header = (const void *)bytes;
  unsigned tried = 0;
  for (uint64_t chunk = 0; chunk < words.chunks; chunk++) {
    uint64_t right = words.at[chunk];
    struct nvmi_span shape, wider;
    nvmi_span_shape(&shape, right >> 8 & 0xff);
    nvmi_span_shape(&wider, (right >> 8 & 0xff) + 1);
    const uint16_t *table =
        (const void *)(bytes + header->heap_offset + (chunk << NVM_CHUNK_SHIFT));
    if ((right & 0xff) != NVM_CHUNK_SMALL || shape.block_size != BLOCK ||
        wider.chunks != shape.chunks || !table[shape.blocks - 1])
      continue;
    words.at[chunk] = right + (1 << 8);
    long long left;
    write_file(path, bytes, size);
    CHECK(nvm_pool_check(path, NULL, NULL) > 0);
    uint64_t now = word_after(path, bytes, size, chunk, &left);
    CHECK(left ? now == words.at[chunk] : (now & ~NVM_SPAN_STATICS) == right);
    words.at[chunk] = right;
    tried++;
  }
  CHECK(tried);
  free(bytes);
}
