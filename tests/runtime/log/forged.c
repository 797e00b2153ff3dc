/* forged.c: log frames whose checksum holds and whose numbers make no sense: opening refuses them.
 */
#include "base/checksum.h"
#include "harness.h"
#include "pool/pool.h"
#include "store.h"

#include <fcntl.h>
#include <unistd.h>

static void leave_open(void *path) {
  NVM_POOL *pool = test_create(path, 1 << 20);
  nvm_tx_begin(pool);
  uint64_t *words = nvm_calloc(pool, 0, 8, 8);
  CHECK(nvm_pool_set_root(pool, words) == 0 && nvm_tx_commit(pool) == 0);
  _exit(0);
}

/* A frame of a newer transaction at the end of the first log's first segment. */
static void forge(const char *path, uint64_t place, uint64_t shape) {
  struct nvm_pool *pool = nvmi_pool_attach(path, false);
  CHECK(pool != NULL);
  uint64_t seed = pool->key.seed, segment;
  nvmi_pool_detach(pool);
  struct {
    struct nvm_frame frame;
    uint64_t payload[3];
  } forged = {{.transaction = UINT64_C(1000) << 16, .order = 1000, .offset = place, .shape = shape},
              {0}};
  forged.frame.check = nvmi_check(&forged.frame.transaction,
                                  sizeof forged.frame - 8 + NVM_FRAME_LENGTH(&forged.frame), seed);
  int fd = open(path, O_RDWR);
  CHECK(pread(fd, &segment, 8, NVM_SLOTS_OFFSET) == 8);
  CHECK(pwrite(fd, &forged, sizeof forged, (off_t)segment + NVM_CHUNK_SIZE - 64) == sizeof forged);
  close(fd);
}

TEST(forged_undo_outside_the_file) {
  const char *path = test_path("pool");
  CHECK(test_child(NULL, leave_open, (void *)path) == 0);
  forge(path, UINT64_MAX - 7, NVM_FRAME_SHAPE(NVM_FRAME_UNDO, NVM_UNDO_NEXT, 24));
  CHECK_FAILS(nvm_pool_open(path), NVM_ECORRUPT);
}

/* The sum does not depend on the instructions that it was made with. */
TEST_ONCE(check_of_every_length) {
  static char bytes[4096];
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (char)(i * i >> 5);
  struct nvmi_key key;
  nvmi_key_set(&key, 4711);
  for (size_t size = 0; size < sizeof bytes; size++)
    CHECK(nvmi_check_by(&key, bytes, size) == nvmi_check(bytes, size, 4711));
  CHECK(nvmi_check_add(nvmi_check_add(0, 1), 2) != nvmi_check_add(nvmi_check_add(0, 2), 1));
}
