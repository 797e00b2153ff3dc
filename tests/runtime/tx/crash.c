/* crash.c: the process dies at every step there is, and the pool holds what was acknowledged. */
#include "base/checksum.h"
#include "harness.h"
#include "pool/pool.h"
#include "workload.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct run {
  const char *path;
  struct progress *progress;
  uint64_t end;
};

static void run_workload(void *argument) {
  struct run *run = argument;
  workload_run(run->path, run->progress, run->end);
}

/* Dies at the n-th step of a kind, for n = 1, 2, ... until the workload gets through. */
static void kill_at_each(const char *kind, uint64_t transactions, unsigned stride) {
  unsigned kills = 0;
  for (unsigned n = 1;; n += stride) {
    struct run run = {test_path("pool"), progress_new(), transactions};
    char kill[64];
    snprintf(kill, sizeof kill, "%s:%u", kind, n);
    int status = test_child(kill, run_workload, &run);
    if (!test_was_killed(status)) {
      CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
      break;
    }
    kills++;
    workload_verify(run.path, run.progress);
    workload_run(run.path, run.progress, transactions); /* life goes on */
    CHECK(workload_verify(run.path, run.progress) == transactions);
    unlink(run.path);
  }
  CHECK(kills >= transactions / stride);
}

TEST(crash_at_every_append) { kill_at_each("append", 12, 1); }

TEST(crash_at_every_commit_step) { kill_at_each("commit", 12, 1); }

TEST(crash_late_in_a_long_run) { kill_at_each("append", 300, 97); }

TEST_ONCE(crash_during_creation) {
  struct run run = {test_path("pool"), progress_new(), 2};
  for (int n = 1; n <= 2; n++) {
    char kill[64];
    snprintf(kill, sizeof kill, "create:%d", n);
    CHECK(test_was_killed(test_child(kill, run_workload, &run)));
    CHECK(access(run.path, F_OK) != 0); /* nothing is left behind */
  }
}

static void copy_file(const char *from, const char *to) {
  static char block[1 << 16];
  int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(in >= 0 && out >= 0);
  for (ssize_t got; (got = read(in, block, sizeof block)) > 0;)
    CHECK(write(out, block, (size_t)got) == got);
  close(in);
  close(out);
}

static void just_open(void *path) {
  NVM_POOL *pool = nvm_pool_open(path);
  CHECK(pool != NULL);
}

/* Recovery dies at each of its steps, again and again, on copies of one crashed pool. */
TEST(crash_during_recovery) {
  unsigned recoveries = 0;
  const char *copy = test_path("pool");
  struct run run = {test_path("crashed"), NULL, 60};
  for (unsigned n = 30; n < 60; n += 7) {
    run.progress = progress_new();
    char kill[64];
    snprintf(kill, sizeof kill, "append:%u", n);
    CHECK(test_was_killed(test_child(kill, run_workload, &run)));
    for (unsigned step = 1;; step++) {
      copy_file(run.path, copy);
      snprintf(kill, sizeof kill, "recover:%u", step);
      if (!test_was_killed(test_child(kill, just_open, (void *)(uintptr_t)copy)))
        break;
      /* A second crash one step further, then in peace. */
      snprintf(kill, sizeof kill, "recover:%u", step + 1);
      test_child(kill, just_open, (void *)(uintptr_t)copy);
      workload_verify(copy, run.progress);
      recoveries++;
    }
    unlink(run.path);
  }
  CHECK(recoveries >= 5);
}

/* Where the frame with the highest order begins in the file: the last one that was appended. */
static uint64_t last_frame(const char *path, uint64_t *size) {
  struct nvm_pool *pool = nvmi_pool_attach(path, false);
  CHECK(pool != NULL);
  enum { ROOM = 4 << 20 };
  char *heap = malloc(ROOM);
  ssize_t length = heap ? pread(pool->fd, heap, ROOM, (off_t)pool->header.heap_offset) : 0;
  uint64_t found = 0, order = 0;
  for (ssize_t at = 0; at + 64 <= length; at += 64) {
    const struct nvm_frame *frame = (const void *)(heap + at);
    if (!NVM_FRAME_KIND(frame) || NVM_FRAME_KIND(frame) > NVM_FRAME_VOID ||
        NVM_FRAME_LENGTH(frame) > length - at - 40 || frame->order < order ||
        frame->check !=
            nvmi_check(&frame->transaction, 32 + NVM_FRAME_LENGTH(frame), pool->key.seed))
      continue;
    order = frame->order;
    found = pool->header.heap_offset + (uint64_t)at;
    *size = sizeof *frame + NVM_FRAME_LENGTH(frame);
  }
  free(heap);
  nvmi_pool_detach(pool);
  CHECK(found);
  return found;
}

static void flip_byte(const char *path, uint64_t at) {
  int fd = open(path, O_RDWR);
  unsigned char byte;
  CHECK(pread(fd, &byte, 1, (off_t)at) == 1);
  byte ^= 0x40;
  CHECK(pwrite(fd, &byte, 1, (off_t)at) == 1);
  close(fd);
}

/* The last entry was streamed but not fenced: any part of it may be missing. Nothing of it is
 * applied. */
TEST(torn_log) {
  const char *copy = test_path("pool");
  struct run run = {test_path("crashed"), NULL, 60};
  for (unsigned n = 5; n < 50; n += 11) {
    run.progress = progress_new();
    char kill[64];
    snprintf(kill, sizeof kill, "append:%u", n);
    CHECK(test_was_killed(test_child(kill, run_workload, &run)));
    uint64_t size = 0, at = last_frame(run.path, &size);
    for (uint64_t byte = 0; byte < size; byte += size > 1024 ? 61 : test_is_long() ? 1 : 3) {
      copy_file(run.path, copy);
      flip_byte(copy, at + byte);
      workload_verify(copy, run.progress);
    }
    unlink(run.path);
  }
}

static void set_root_and_die(void *unused) {
  NVM_POOL *pool = test_open(test_path("pool"));
  (void)unused;
  CHECK(nvm_tx_begin(pool) == 0);
  void *block = nvm_alloc(pool, 0, 64);
  CHECK(block && nvm_pool_set_root(pool, block) == 0);
  raise(SIGKILL);
}

/* What a killed process left is no fault: its next opening undoes it. */
TEST(root_of_a_killed_transaction_is_no_fault) {
  CHECK(nvm_pool_close(test_create(test_path("pool"), 1 << 20)) == 0);
  CHECK(test_was_killed(test_child(NULL, set_root_and_die, NULL)));
  CHECK(nvm_pool_check(test_path("pool"), NULL, NULL) == 0);
  NVM_POOL *pool = test_open(test_path("pool"));
  CHECK(!nvm_pool_root(pool) && nvm_pool_verify(pool, NULL, NULL) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}

static void spoil_first_type(const char *path) {
  const uint64_t other = 77;
  int fd = open(path, O_RDWR);
  CHECK(pwrite(fd, &other, sizeof other, NVM_TYPES_OFFSET + sizeof(struct nvm_type_entry)) ==
        (ssize_t)sizeof other);
  close(fd);
}

/* An entry of the table of types that is not whole is none, and its place is free. */
TEST(torn_type) {
  const char *path = test_path("pool");
  NVM_POOL *pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0 && nvm_alloc(pool, 99, 8) != NULL && nvm_tx_abort(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  spoil_first_type(path);
  for (unsigned known = 1; known <= 2; known++) {
    pool = test_open(path);
    CHECK(pool->type_count == known);
    CHECK(nvm_alloc(pool, 99, 8) != NULL && pool->type_ids[1] == 99);
    CHECK(nvm_pool_close(pool) == 0);
    test_check_pool(path);
  }
}

/* A crash does not tear the entry of a type that a block has: that is damage. */
TEST(damaged_type) {
  const char *path = test_path("pool");
  NVM_POOL *pool = test_create(path, 1 << 20);
  CHECK(nvm_tx_begin(pool) == 0);
  void *block = nvm_alloc(pool, 99, 8);
  CHECK(nvm_pool_set_root(pool, block) == 0 && nvm_tx_commit(pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
  spoil_first_type(path);
  CHECK_FAILS(nvm_pool_open(path) != NULL, NVM_ECORRUPT);
  CHECK(nvm_pool_check(path, NULL, NULL) > 0);
}

/* Entries of an earlier opening stay in the file and mean nothing. */
TEST(old_entries_are_not_applied) {
  struct run run = {test_path("pool"), progress_new(), 40};
  CHECK(test_was_killed(test_child("append:33", run_workload, &run)));
  struct nvm_info info;
  NVM_POOL *pool = test_open(run.path);
  CHECK(nvm_pool_info(pool, &info) == 0 && info.unclean_opens == 1 && info.generation == 2);
  CHECK(info.recovered_redone + info.recovered_undone > 0);
  CHECK(nvm_pool_close(pool) == 0);
  test_child(NULL, just_open, (void *)(uintptr_t)run.path); /* dies without closing */
  pool = test_open(run.path);
  CHECK(nvm_pool_info(pool, &info) == 0 && info.unclean_opens == 2 && info.generation == 4);
  CHECK(info.recovered_redone + info.recovered_undone == 0);
  CHECK(nvm_pool_close(pool) == 0);
  workload_verify(run.path, run.progress);
}

/* The log says what to do by itself: the method may change with any opening. */
TEST(recovered_by_the_other_method) {
  struct run run = {test_path("pool"), NULL, 40};
  bool undo = strcmp(getenv("NVMOVE_METHOD"), "undo") == 0;
  for (unsigned n = 7; n < 40; n += 8) {
    run.progress = progress_new();
    char kill[64];
    snprintf(kill, sizeof kill, "append:%u", n);
    CHECK(test_was_killed(test_child(kill, run_workload, &run)));
    setenv("NVMOVE_DURABLE", "always", 1); /* undo cannot do else */
    setenv("NVMOVE_METHOD", undo ? "shadow" : "undo", 1);
    workload_verify(run.path, run.progress);
    workload_run(run.path, run.progress, 40);
    setenv("NVMOVE_METHOD", undo ? "undo" : "shadow", 1);
    CHECK(workload_verify(run.path, run.progress) == 40);
    unlink(run.path);
  }
}

/* The comparison of view and file says nothing of a program that notes all it stores. */
TEST(compare_accepts_the_workload) {
  setenv("NVMOVE_DEBUG", "compare", 1);
  struct progress *progress = progress_new();
  workload_run(test_path("pool"), progress, 60);
  workload_run(test_path("pool"), progress, 90);
  CHECK(workload_verify(test_path("pool"), progress) == 90);
}

static void use(void *path) {
  nvm_pool_check(path, NULL, NULL);
  NVM_POOL *pool = nvm_pool_open(path);
  if (!pool)
    exit(0);
  for (size_t size = 16; size < 100000; size *= 3) {
    CHECK(nvm_tx_begin(pool) == 0);
    void *block = nvm_alloc(pool, 0, size);
    if (block)
      nvm_free(block);
    nvm_tx_commit(pool);
  }
  nvm_pool_close(pool);
  exit(0);
}

/* Bytes of the tables and logs rot: an error or an answer, never a crash. */
TEST(spoiled_tables) {
  const char *copy = test_path("pool");
  struct run run = {test_path("crashed"), progress_new(), 60};
  CHECK(test_was_killed(test_child("append:60", run_workload, &run)));
  uint64_t state = 99, size = 0, frame = last_frame(run.path, &size);
  for (int i = 0; i < (test_is_long() ? 150 : 45); i++) {
    copy_file(run.path, copy);
    state = state * 6364136223846793005u + 1442695040888963407u;
    uint64_t random = state >> 20, at;
    if (i % 3 == 0)
      at = NVM_CHUNKS_OFFSET + random % 512;
    else if (i % 3 == 1)
      at = NVM_FLOOR_OFFSET + random % (NVM_CHUNKS_OFFSET - NVM_FLOOR_OFFSET);
    else
      at = (frame & ~(NVM_CHUNK_SIZE - 1)) + random % NVM_CHUNK_SIZE;
    flip_byte(copy, at);
    int status = test_child(NULL, use, (void *)(uintptr_t)copy);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

static void set_floor(const char *path, uint64_t order) {
  struct nvm_floor floor = {.order = order};
  int fd = open(path, O_RDWR);
  CHECK(pwrite(fd, &floor, sizeof floor, NVM_FLOOR_OFFSET) == (ssize_t)sizeof floor);
  close(fd);
}

static uint64_t replayed(const char *path) {
  struct nvm_info info;
  NVM_POOL *pool = test_open(path);
  CHECK(nvm_pool_info(pool, &info) == 0 && nvm_pool_close(pool) == 0);
  return info.recovered_redone;
}

/* Records below the floor are in place; those behind it are numbered from there on. */
TEST(floor_ends_replay) {
  struct run run = {test_path("crashed"), NULL, 12};
  const char *copy = test_path("pool");
  for (unsigned n = 5;; n++) {
    run.progress = progress_new();
    char kill[64];
    snprintf(kill, sizeof kill, "commit:%u", n);
    CHECK(test_was_killed(test_child(kill, run_workload, &run)));
    copy_file(run.path, copy);
    if (replayed(copy) > 0)
      break; /* died between a record and its operations */
    unlink(run.path);
  }
  copy_file(run.path, copy);
  set_floor(copy, NVM_ORDER_MAX);
  CHECK(replayed(copy) == 0);
  NVM_POOL *pool = test_open(copy);
  CHECK(nvm_alloc(pool, 0, 8) != NULL && nvm_pool_close(pool) == 0);
  copy_file(run.path, copy);
  set_floor(copy, NVM_ORDER_MAX + 1);
  CHECK_FAILS(nvm_pool_open(copy), NVM_ECORRUPT);
  CHECK(nvm_pool_check(copy, NULL, NULL) > 0);
}

/* A run that was freed waits until no record can name it, then it is used again. */
TEST(freed_runs_are_used_again) {
  NVM_POOL *pool = test_create(test_path("pool"), 4 << 20);
  struct nvm_info before, after;
  nvm_pool_info(pool, &before);
  for (int i = 0; i < 400; i++) {
    CHECK(nvm_tx_begin(pool) == 0);
    void *blocks[40];
    size_t size = i % 2 ? 60000 : (size_t)16 << (i / 2 % 12);
    for (int j = 0; j < 40; j++)
      CHECK((blocks[j] = nvm_alloc(pool, 0, size)) != NULL);
    CHECK(nvm_tx_commit(pool) == 0 && nvm_tx_begin(pool) == 0);
    for (int j = 0; j < 40; j++)
      CHECK(nvm_free(blocks[j]) == 0);
    void *large = nvm_alloc(pool, 0, 100000);
    CHECK(large && nvm_free(large) == 0 && nvm_tx_commit(pool) == 0);
  }
  nvm_pool_info(pool, &after);
  CHECK(after.size <= before.size + (4 << 20)); /* 0.5 GB went through a pool of a few MB */
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}
