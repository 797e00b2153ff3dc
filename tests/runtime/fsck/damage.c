/* damage.c: each kind of damage to a pool that was closed is found, and named: by nvm_pool_check,
 * or when its data can be read, by nvm_pool_verify_pointers. */
#define _GNU_SOURCE
#include "damage.h"
#include "base/checksum.h"
#include "bound.h"
#include "heap/heap_spans.h"
#include "heap/heap_types.h"
#include "simulation.h"
#include "sparse.h"

#include "nvmove/inspect.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file, mapped. */
struct image {
  char *bytes;
  size_t size;
  struct nvm_header *header; /* the first copy */
};

static struct image map(const char *path) {
  int fd = open(path, O_RDWR);
  struct stat status;
  CHECK(fd >= 0 && fstat(fd, &status) == 0);
  void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(bytes != MAP_FAILED);
  close(fd);
  return (struct image){bytes, (size_t)status.st_size, bytes};
}

static uint64_t *word(const struct image *image, uint64_t at) {
  CHECK(at + 8 <= image->size);
  return (uint64_t *)(image->bytes + at);
}

static uint64_t id_seed(const struct image *image) { return nvmi_check(image->header->id, 16, 0); }

/* Both copies get a field's new value, and a checksum that holds. */
static void set_header(struct image *image, size_t field, uint64_t value, size_t size) {
  struct nvm_header *h = image->header;
  memcpy((char *)h + field, &value, size);
  h->check = 0;
  h->check = nvmi_check(h, sizeof *h, 0);
  memcpy(image->bytes + NVM_HEADER_COPY_SIZE, h, sizeof *h);
}

/* The word of the first run of a kind. */
static uint64_t *run_of(const struct image *image, unsigned kind) {
  uint64_t chunks = image->header->heap_size >> NVM_CHUNK_SHIFT;
  for (uint64_t chunk = 0, count; chunk < chunks; chunk += count) {
    uint64_t *at = word(image, NVM_CHUNKS_OFFSET + 8 * chunk);
    if ((*at & 0xff) == kind)
      return at;
    count = *at ? *at >> 32 : 1;
  }
  test_fail(__FILE__, __LINE__, "no such run");
}

static uint64_t run_offset(const struct image *image, const uint64_t *at) {
  uint64_t chunk = ((uint64_t)((char *)at - image->bytes) - NVM_CHUNKS_OFFSET) / 8;
  return image->header->heap_offset + (chunk << NVM_CHUNK_SHIFT);
}

/* The first hook: number, next, constant, marked, call (statics.c). */
static uint64_t *hook(const struct image *image, unsigned index) {
  return word(image, *word(image, NVM_ROOT_OFFSET) - image->header->base + 8 * index);
}

#define DAMAGE(name, statement)                                                                    \
  static void name(struct image *image) { statement; }
#define SPOIL(name, member, value)                                                                 \
  static void name(struct image *image) {                                                          \
    set_header(image, offsetof(struct nvm_header, member), value, sizeof image->header->member);   \
  }

SPOIL(magic, magic, 1)
SPOIL(newer_format, format, NVM_FORMAT + 1)
SPOIL(header_size, header_size, 100)
SPOIL(range, range, UINT64_C(3) << 30)
SPOIL(base, base, 0x7e8000001000)
SPOIL(too_many_moves, moves, NVM_MOVES_MAX + 1)
SPOIL(statics_state, statics, 9)
SPOIL(heap_offset, heap_offset, 0x10000)
SPOIL(heap_size, heap_size, 12345)
SPOIL(generation, generation, 0)
SPOIL(state, state, 7)
SPOIL(method, method, 9)
SPOIL(log_format, log_format, 99)
SPOIL(domain, domain, 9)
DAMAGE(former_base, set_header(image, offsetof(struct nvm_header, moves), 1, 4))
DAMAGE(both_checksums, image->header->check++; ++*word(image, NVM_HEADER_COPY_SIZE + 16))
DAMAGE(one_copy, ++*word(image, NVM_HEADER_COPY_SIZE + 40))
DAMAGE(truncated, CHECK(truncate(test_path("pool"), (off_t)image->size / 2) == 0))
DAMAGE(segment_check, ++*word(image, *word(image, NVM_SLOTS_OFFSET)))
DAMAGE(segment_size, *word(image, *word(image, NVM_SLOTS_OFFSET) + 24) = 1 << 20)
DAMAGE(slot_astray, *word(image, NVM_SLOTS_OFFSET + 8) = 0x123456)
DAMAGE(slot_behind, *word(image, NVM_SLOTS_OFFSET + 16 * 9) = image->header->heap_offset)
DAMAGE(segment_kind, *run_of(image, NVM_CHUNK_LOG) ^= NVM_CHUNK_LOG ^ NVM_CHUNK_FREE)
DAMAGE(types_free, *run_of(image, NVM_CHUNK_TYPES) ^= NVM_CHUNK_TYPES ^ NVM_CHUNK_FREE)
DAMAGE(statics_free, *run_of(image, NVM_CHUNK_STATICS) ^= NVM_CHUNK_STATICS ^ NVM_CHUNK_FREE)
DAMAGE(run_kind, *run_of(image, NVM_CHUNK_SMALL) |= 0x70)
DAMAGE(run_length, *run_of(image, NVM_CHUNK_SMALL) |= UINT64_C(1) << 60)
DAMAGE(run_of_none, *run_of(image, NVM_CHUNK_SMALL) &= 0xffffffff)
DAMAGE(span_class, *run_of(image, NVM_CHUNK_SMALL) |= 0xff00)
DAMAGE(span_type, *run_of(image, NVM_CHUNK_SMALL) |= 0x20000)
DAMAGE(span_length, *run_of(image, NVM_CHUNK_SMALL) += UINT64_C(1) << 32)
DAMAGE(statics_length, *run_of(image, NVM_CHUNK_STATICS) += UINT64_C(1) << 32)
DAMAGE(types_length, *run_of(image, NVM_CHUNK_TYPES) += UINT64_C(2) << 32)
DAMAGE(large_class, *run_of(image, NVM_CHUNK_LARGE) |= 0x500)
DAMAGE(large_type, *run_of(image, NVM_CHUNK_LARGE) |= 0xff0000)
DAMAGE(free_type, *run_of(image, NVM_CHUNK_FREE) |= 0x10000)
DAMAGE(large_is_log, *run_of(image, NVM_CHUNK_LARGE) ^= NVM_CHUNK_LARGE ^ NVM_CHUNK_LOG)
DAMAGE(large_is_types, *run_of(image, NVM_CHUNK_LARGE) ^= NVM_CHUNK_LARGE ^ NVM_CHUNK_TYPES)
DAMAGE(large_is_counts, *run_of(image, NVM_CHUNK_LARGE) ^= NVM_CHUNK_LARGE ^ NVM_CHUNK_COUNTS)
DAMAGE(virgin, *run_of(image, NVM_CHUNK_VIRGIN) = UINT64_C(1) << 32)
DAMAGE(block_type, *word(image, run_offset(image, run_of(image, NVM_CHUNK_SMALL))) |= 0xff00)
DAMAGE(root_outside, *word(image, NVM_ROOT_OFFSET) = 4096)
DAMAGE(root_free, *word(image, NVM_ROOT_OFFSET) += 0x2000)
DAMAGE(root_null, *word(image, NVM_ROOT_OFFSET) = 0)
DAMAGE(root_copy, *word(image, NVM_ROOT_OFFSET + 8) = 0)
DAMAGE(root_gone, *word(image, NVM_ROOT_OFFSET) = *word(image, NVM_ROOT_OFFSET + 8) = 0)
DAMAGE(root_both, *word(image, NVM_ROOT_OFFSET) -= 96;
       *word(image, NVM_ROOT_OFFSET + 8) ^= UINT64_C(0x12) << 40)
DAMAGE(type_entry, *word(image, NVM_TYPES_OFFSET + 32 + 24) ^= 1)
DAMAGE(types_gone, *word(image, NVM_TYPES_OFFSET + 32) = *word(image, NVM_TYPES_OFFSET + 64) = 0)
DAMAGE(types_last, memset(word(image, NVM_TYPES_OFFSET + 64), 0, 32))
DAMAGE(type_record, *word(image, *word(image, NVM_TYPES_OFFSET + 32 + 8)) ^= 1)
DAMAGE(statics_run, *word(image, *word(image, NVM_STATICS_OFFSET) + 16) ^= 1)
DAMAGE(statics_astray, *word(image, NVM_STATICS_OFFSET) = 0x777777)
DAMAGE(statics_lost, *word(image, NVM_STATICS_OFFSET) = 0)
DAMAGE(statics_cycle,
       *word(image, *word(image, NVM_STATICS_OFFSET) + 8) = *word(image, NVM_STATICS_OFFSET))
DAMAGE(to_nothing, *hook(image, 1) += 0x3000)
DAMAGE(to_tables, *hook(image, 1) = image->header->base + NVM_SLOTS_OFFSET)
DAMAGE(beyond, *hook(image, 1) = image->header->base + image->header->range - 64)
DAMAGE(to_dram, *hook(image, 1) = 0x7f1234567890)
DAMAGE(to_a_pool, *hook(image, 1) ^= UINT64_C(1) << 35)
DAMAGE(misaligned, *hook(image, 1) += 2)
DAMAGE(constant, *hook(image, 2) = 0x7f1234567890)
DAMAGE(marked, *hook(image, 3) = *hook(image, 1))
DAMAGE(function, *hook(image, 4) += 1)
DAMAGE(unmarked, *run_of(image, NVM_CHUNK_SMALL) &= ~NVM_SPAN_STATICS)

/* The root says nothing of the type of its block. */
static void root_type(struct image *image) {
  uint64_t *run = run_of(image, NVM_CHUNK_SMALL);
  uint64_t at = run_offset(image, run), root = *word(image, NVM_ROOT_OFFSET) - image->header->base;
  struct nvmi_span shape;
  nvmi_span_shape(&shape, *run >> 8 & 0xff);
  uint64_t index = (root - at - shape.first) / shape.block_size;
  CHECK(root > at && index < shape.blocks);
  ((uint16_t *)(void *)word(image, at))[index] |= 0xff00;
}

/* Behind the table of the first span. */
static void behind_table(struct image *image) {
  uint64_t *run = run_of(image, NVM_CHUNK_SMALL);
  struct nvmi_span shape;
  nvmi_span_shape(&shape, *run >> 8 & 0xff);
  CHECK(shape.blocks * 2 < shape.first);
  ((uint16_t *)(void *)word(image, run_offset(image, run)))[shape.blocks] = 1;
}

/* A layout whose checksum holds and whose field lies outside of its type. */
static void type_nonsense(struct image *image) {
  struct nvm_type_entry *entry = (void *)word(image, NVM_TYPES_OFFSET + 32);
  struct nvm_type_record *record = (void *)word(image, entry->record);
  ((struct nvm_type_field *)(record + 1))->offset = 1 << 20;
  entry->id ^= 2; /* or the program's own would be taken */
  uint64_t words[] = {entry->id, entry->record, entry->size,
                      nvmi_check(record, entry->size, id_seed(image))};
  entry->check = nvmi_check(words, sizeof words, id_seed(image));
}

#define KIND(name, said) {#name, said, name, CURE_REPAIR}
#define CURED(name, cure, said) {#name, said, name, CURE_##cure}
const struct damage damage_kinds[] = {
    KIND(magic, "no pool of nvmove"),
    CURED(newer_format, NONE, "is newer than this library"),
    KIND(header_size, "header are bad (header size)"),
    KIND(range, "header are bad (range)"),
    KIND(base, "header are bad (base address)"),
    KIND(too_many_moves, "header are bad (base address)"),
    KIND(former_base, "header are bad (former base address)"),
    KIND(statics_state, "header are bad (state of static pointers)"),
    KIND(heap_offset, "header are bad (heap offset)"),
    KIND(heap_size, "header are bad (heap size)"),
    KIND(generation, "header are bad (generation)"),
    KIND(state, "header are bad (state)"),
    KIND(method, "header are bad (method)"),
    KIND(log_format, "header are bad (log format)"),
    KIND(domain, "header are bad (domain)"),
    KIND(both_checksums, "header are bad (checksum)"),
    KIND(one_copy, "header copies differ"),
    KIND(truncated, "the file has"),
    KIND(segment_check, "log 0, bank 0: a segment is damaged"),
    KIND(segment_size, "log 0, bank 0: a segment is damaged"),
    KIND(slot_astray, "log 0, bank 1: a segment is damaged"),
    KIND(slot_behind, "in use behind one that is not"),
    KIND(segment_kind, "is not a run of kind LOG"),
    KIND(types_free, "the layout of a type lies in no run of kind TYPES"),
    KIND(statics_free, "table of static data is no run of kind STATICS"),
    KIND(run_kind, "no such kind of run"),
    KIND(run_length, "ends outside the heap"),
    KIND(run_of_none, "ends outside the heap"),
    KIND(span_class, "no such size class"),
    KIND(span_type, "no such size class, or a type"),
    KIND(span_length, "not as long as its size class says"),
    KIND(statics_length, "a run of tables is not as long as they are"),
    KIND(types_length, "a run of tables is not as long as they are"),
    KIND(large_class, "a large block has a size class"),
    CURED(large_type, FORGET, "a type that is not in the table"),
    KIND(free_type, "a run without blocks has"),
    KIND(large_is_log, "a run of tables or of a log, and nothing names it"),
    KIND(large_is_types, "a run of tables or of a log, and nothing names it"),
    KIND(large_is_counts, "a run of tables or of a log, and nothing names it"),
    KIND(virgin, "never used says more"),
    KIND(block_type, "no type"),
    KIND(root_outside, "does not lie in the heap"),
    KIND(root_free, "is not what its copy says"),
    KIND(root_null, "is not what its copy says"),
    KIND(root_copy, "is not what its copy says"),
    CURED(root_gone, ROOT, "is not what its copy says"),
    CURED(root_both, ROOT, "is not what its copy says"),
    KIND(behind_table, "the table of a span goes on behind its end"),
    KIND(type_entry, "the table of types is damaged from entry 1"),
    KIND(types_gone, "no type 1"),
    CURED(types_last, FORGET, "a type that is not in the table"),
    CURED(root_type, FORGET, "no type"),
    KIND(type_record, "the table of types is damaged from entry 1"),
    CURED(type_nonsense, FORGET, "the layout of type 1 makes no sense"),
    KIND(statics_run, "the table of static data is damaged"),
    KIND(statics_astray, "the table of static data is damaged at 0x777777"),
    KIND(statics_lost, "the table of static data, and no link leads to it"),
    KIND(statics_cycle, "the table of static data is damaged"),
    CURED(to_nothing, NULL, "where nothing is allocated"),
    CURED(to_tables, NULL, "where nothing is allocated"),
    CURED(beyond, NULL, "where nothing is allocated"),
    CURED(to_dram, NULL, "field next of struct hook"),
    CURED(to_a_pool, NULL, "leads to another pool"),
    CURED(misaligned, NULL, "is not aligned for struct hook"),
    CURED(constant, NULL, "field constant of struct hook"),
    CURED(marked, NULL, "should lead to the program, and leads into the pool"),
    CURED(function, NULL, "field call of struct hook"),
    KIND(unmarked, "its span is not marked")};
const size_t damage_count = sizeof damage_kinds / sizeof *damage_kinds;

static void listen(void *heard, const char *line) {
  if (!*(char *)heard)
    snprintf(heard, 512, "%s", line);
}

void damage_judge(const char *path, char *heard) {
  *heard = 0;
  if (nvm_pool_check(path, listen, heard) < 0) {
    snprintf(heard, 512, "%s", nvm_strerror());
    return;
  }
  if (*heard)
    return;
  NVM_POOL *pool = nvm_pool_open_foreign(path);
  if (!pool) {
    snprintf(heard, 512, "%s", nvm_strerror());
    return;
  }
  nvm_pool_verify(pool, listen, heard);
  nvm_pool_verify_pointers(pool, listen, heard);
  nvm_pool_close(pool);
}

/* Opening it and allocating is an error, or works, and is no crash. */
static void use(void *path) {
  NVM_POOL *pool = nvm_pool_open(path);
  for (size_t size = 16; pool && size < 200000; size *= 3)
    nvm_alloc(pool, 0, size);
  _exit(0);
}

void damage_copy(const char *sound, const char *path, const struct damage *kind) {
  sparse_copy(sound, path);
  struct image image = map(path);
  kind->make(&image);
  munmap(image.bytes, image.size);
}

void damage_sound(const char *path) {
  NVM_POOL *pool = test_create(path, 4 << 20);
  bound_fill(pool, 0, DAMAGE_NODES); /* first: its span is the first, its type too */
  CHECK(nvm_tx_begin(pool) == 0);
  void *large = nvm_alloc(pool, 0, 200000), *freed = nvm_alloc(pool, 0, 100000);
  CHECK(large && freed && nvm_alloc(pool, 5, 70000) && nvm_tx_commit(pool) == 0);
  CHECK(nvm_free(freed) == 0 && nvm_pool_close(pool) == 0);
}

TEST_ONCE(damage_of_every_kind_is_named) {
  char sound[200], path[200], heard[512];
  snprintf(sound, sizeof sound, "%s", test_path("sound"));
  snprintf(path, sizeof path, "%s", test_path("pool"));
  damage_sound(sound);
  damage_judge(sound, heard);
  CHECK(!*heard);
  for (size_t i = 0; i < damage_count; i++) {
    const struct damage *kind = &damage_kinds[i];
    damage_copy(sound, path, kind);
    damage_judge(path, heard);
    if (!strstr(heard, kind->said))
      test_fail(kind->name, (int)i, *heard ? heard : "nothing was said");
    damage_copy(sound, path, kind);
    if (test_child(NULL, use, path) != 0)
      test_fail(kind->name, (int)i, "using the pool ended the process");
  }
  CHECK(damage_count >= 40);
}

/* The numbers of header and generation begin again, and of two copies the newer one still counts.
 */
TEST(header_numbers_wrap) {
  const char *path = test_path("pool");
  CHECK(nvm_pool_close(test_create(path, 1 << 20)) == 0);
  struct image image = map(path);
  set_header(&image, offsetof(struct nvm_header, generation), UINT64_MAX - 1, 8);
  set_header(&image, offsetof(struct nvm_header, sequence), UINT64_MAX - 5, 8);
  for (unsigned opening = 0; opening < 4; opening++) {
    struct nvm_header before = *image.header;
    NVM_POOL *pool = test_open(path);
    bound_fill(pool, opening, opening + 1);
    uint64_t generation = pool->header.generation;
    CHECK(generation && nvm_pool_close(pool) == 0);
    memcpy(image.bytes + NVM_HEADER_COPY_SIZE, &before, sizeof before); /* it did not arrive */
    pool = test_open(path);
    CHECK(pool->header.generation != generation && *(uint64_t *)nvm_pool_root(pool) == opening);
    CHECK(nvm_pool_close(pool) == 0);
  }
  CHECK(image.header->sequence < 100);
  munmap(image.bytes, image.size);
  test_check_pool(path);
}
