/* headers.c: what the header says of the program, and which of its copies a repair takes. */
#define _GNU_SOURCE
#include "base/checksum.h"
#include "format/layout.h"
#include "harness.h"

#include "nvmove/inspect.h"
#include "nvmove/repair.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static struct nvm_header header_of(const char *path, unsigned copy) {
  struct nvm_header header;
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0 && pread(fd, &header, sizeof header, copy * NVM_HEADER_COPY_SIZE) == sizeof header);
  close(fd);
  return header;
}

static void put_header(const char *path, unsigned copy, struct nvm_header header) {
  header.check = 0;
  header.check = nvmi_check(&header, sizeof header, 0);
  int fd = open(path, O_RDWR);
  CHECK(fd >= 0);
  CHECK(pwrite(fd, &header, sizeof header, copy * NVM_HEADER_COPY_SIZE) == sizeof header);
  close(fd);
}

static void set_build(const char *path, uint8_t byte) {
  struct nvm_header header = header_of(path, 0);
  memset(header.build_id, byte, sizeof header.build_id);
  for (unsigned copy = 0; copy < 2; copy++)
    put_header(path, copy, header);
}

/* A tool is no program of the pool's, and a copy changes nothing. */
TEST(header_names_the_program_that_opened_last) {
  const char *path = test_path("pool");
  CHECK(nvm_pool_close(test_create(path, 1 << 20)) == 0);
  struct nvm_header made = header_of(path, 0), now;
  set_build(path, 7);
  CHECK(nvm_pool_close(nvm_pool_open_foreign(path)) == 0);
  now = header_of(path, 0);
  CHECK(now.build_id[0] == 7 && now.build_id[31] == 7);
  CHECK(nvm_pool_close(test_open(path)) == 0);
  for (unsigned copy = 0; copy < 2; copy++) {
    now = header_of(path, copy);
    CHECK(memcmp(now.build_id, made.build_id, sizeof now.build_id) == 0);
  }
}

/* As the opening does, also where the numbers began again at 0. */
TEST_ONCE(repair_takes_the_newer_header) {
  const char *path = test_path("pool");
  CHECK(nvm_pool_close(test_create(path, 1 << 20)) == 0);
  struct nvm_header older = header_of(path, 0), newer = older;
  older.sequence = UINT64_MAX - 1;
  newer.sequence = 1;
  newer.clean_shutdowns = older.clean_shutdowns + 5;
  for (unsigned copy = 0; copy < 2; copy++) {
    struct nvm_repair how = {0};
    put_header(path, copy, newer);
    put_header(path, !copy, older);
    CHECK(nvm_pool_repair(path, &how) == 0 && *how.copy);
    CHECK(header_of(path, 0).clean_shutdowns == newer.clean_shutdowns);
  }
}
