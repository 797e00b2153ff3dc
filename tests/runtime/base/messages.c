/* messages.c: what a failure says: the path, the cause, what to do. A row for each way to fail that
 * bad input has.
 */
#define _GNU_SOURCE
#include "base/basics.h"
#include "format/layout.h"
#include "harness.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SMALLEST = 1 << 20, CODES = NVM_ESTATIC + 1 };

static NVM_POOL *pool;
static char *block;
static int local;

static bool opens(const char *name) { return nvm_pool_open(test_path(name)) != NULL; }
static bool creates(const char *name, size_t size) {
  return nvm_pool_create(test_path(name), size) != NULL;
}

static bool no_path(void) { return nvm_pool_open(NULL) != NULL; }
static bool long_path(void) {
  static char path[PATH_MAX + 100];
  memset(path, 'x', sizeof path - 1);
  return nvm_pool_open(path) != NULL;
}
static bool open_missing(void) { return opens("missing"); }
static bool open_empty(void) { return opens("empty"); }
static bool open_short(void) { return opens("short"); }
static bool open_small(void) { return opens("small"); }
static bool open_foreign(void) { return opens("foreign"); }
static bool open_device(void) { return nvm_pool_open("/dev/null") != NULL; }
static bool open_folder(void) { return opens("folder"); }
static bool open_cut(void) { return opens("cut"); }
static bool open_newer(void) { return opens("newer"); }
static bool open_spoiled(void) { return opens("spoiled"); }
static bool open_miscounted(void) {
  uint64_t counts, nothing = 0;
  NVM_POOL *counted = test_create(test_path("miscounted"), SMALLEST);
  CHECK(nvm_pool_count_references(counted) == 0 && nvm_pool_close(counted) == 0);
  int fd = open(test_path("miscounted"), O_RDWR);
  CHECK(pread(fd, &counts, 8, offsetof(struct nvm_header, counts)) == 8 && counts);
  CHECK(pwrite(fd, &nothing, 8, (off_t)counts) == 8 && close(fd) == 0);
  return opens("miscounted");
}
static bool open_protected(void) { return opens("protected"); }
static bool open_twice(void) { return opens("pool"); }
static bool check_missing(void) { return nvm_pool_check(test_path("missing"), NULL, NULL) >= 0; }
static bool check_open(void) { return nvm_pool_check(test_path("pool"), NULL, NULL) >= 0; }
static bool create_small(void) { return creates("new", SMALLEST - 1); }
static bool create_huge(void) { return creates("new", (size_t)1 << 40); }
static bool create_nowhere(void) { return creates("nowhere/new", SMALLEST); }
static bool create_there(void) { return creates("empty", SMALLEST); }
static bool create_by_link(void) {
  CHECK(symlink("nowhere", test_path("dangling")) == 0);
  return creates("dangling", SMALLEST);
}
static bool with(const char *variable, const char *value) {
  setenv(variable, value, 1);
  bool done = creates("new", SMALLEST);
  unsetenv(variable);
  return done;
}
static bool create_by_magic(void) { return with("NVMOVE_METHOD", "magic"); }
static bool create_on_moon(void) { return with("NVMOVE_DOMAIN", "moon"); }
static bool create_at_times(void) { return with("NVMOVE_DURABLE", "sometimes"); }
static bool create_at_once(void) { return with("NVMOVE_DURABLE", "0"); }
static bool create_much_later(void) { return with("NVMOVE_DURABLE", "60001"); }
static bool create_by_units(void) { return with("NVMOVE_DURABLE", "10ms"); }
static bool create_misspelt(void) { return with("NVMOVE_OPEN", "cpy"); }
static bool create_comparing(void) { return with("NVMOVE_DEBUG", "comapre"); }
static bool create_counting(void) { return with("NVMOVE_STATS", "yes"); }
static bool create_by_none(void) { return with("NVMOVE_THREADS", "0"); }
static bool create_by_few(void) { return with("NVMOVE_THREADS", "-2"); }
static bool create_tracing(void) { return with("NVMOVE_TRACE_MAX", "1 GB"); }
static bool create_copy(void) { return with("NVMOVE_OPEN", "copy"); }
static bool create_bounded(void) { return with("NVMOVE_SHADOW_DRAM", "some"); }
static bool create_with_little(void) { return with("NVMOVE_SHADOW_DRAM", "3K"); }
static bool create_beyond_64_bits(void) { return with("NVMOVE_POOL_SIZE", "17179869184G"); }
static bool create_by_metod(void) { return with("NVMOVE_METOD", "shadow"); }
static bool create_by_threat(void) { return with("NVMOVE_THREAT", "1"); }
static bool create_by_nvmvoe(void) { return with("NVMVOE_OPEN", "copy"); }
static bool create_by_nvmov(void) { return with("NVMOV_OPEN", "copy"); }
static bool create_and_die_never(void) { return with("NVMOVE_KILL_AT", "append:0"); }
static bool create_and_die_before(void) { return with("NVMOVE_KILL_AT", "append:-1"); }
static bool create_and_die_now(void) { return with("NVMOVE_KILL_AT", "comit:3"); }
static bool create_and_die_when(void) { return with("NVMOVE_KILL_AT", "commit:"); }
static bool open_askew(void) { return nvm_pool_open_at(test_path("closed"), &local) != NULL; }
static bool open_somewhere(void) {
  setenv("NVMOVE_BASE", "somewhere", 1);
  bool done = opens("closed");
  unsetenv("NVMOVE_BASE");
  return done;
}
static bool without_files(void) {
  struct rlimit before, none = {3, 3};
  CHECK(getrlimit(RLIMIT_NOFILE, &before) == 0);
  none.rlim_max = before.rlim_max;
  CHECK(setrlimit(RLIMIT_NOFILE, &none) == 0);
  bool done = opens("closed");
  CHECK(setrlimit(RLIMIT_NOFILE, &before) == 0);
  return done;
}

static bool close_nothing(void) { return nvm_pool_close(NULL) == 0; }
static bool begin_nothing(void) { return nvm_tx_begin(NULL) == 0; }
static bool allocate_nowhere(void) { return nvm_alloc(NULL, 0, 8) != NULL; }
static bool commit_unbegun(void) { return nvm_tx_commit(pool) == 0; }
static bool abort_unbegun(void) { return nvm_tx_abort(pool) == 0; }
static bool allocate_nothing(void) { return nvm_alloc(pool, 0, 0) != NULL; }
static bool allocate_too_much(void) { return nvm_alloc(pool, 0, (size_t)1 << 40) != NULL; }
static bool allocate_product(void) { return nvm_calloc(pool, 0, SIZE_MAX / 2, 3) != NULL; }
static bool allocate_all(void) {
  struct nvm_info info;
  CHECK(nvm_pool_info(pool, &info) == 0);
  return nvm_alloc(pool, 0, info.size_max - (1 << 20)) != NULL;
}
static bool move_to_other_pool(void) {
  NVM_POOL *other = nvm_pool_create(test_path("other"), SMALLEST);
  CHECK(other);
  bool moved = nvm_realloc(other, block, 4000) != NULL;
  enum nvm_error code = nvm_errno();
  char said[256];
  snprintf(said, sizeof said, "%s", nvm_strerror());
  CHECK(nvm_pool_close(other) == 0);
  CHECK(nvm_errno() == code && strcmp(said, nvm_strerror()) == 0);
  return moved;
}
static bool move_nowhere(void) { return nvm_realloc(NULL, block, 4000) != NULL; }
static bool free_local(void) { return nvm_free(&local) == 0; }
static bool free_inside(void) { return nvm_free(block + 1) == 0; }
static bool free_twice(void) { return nvm_free(block) != 0 || nvm_free(block) == 0; }
static bool set_foreign_root(void) { return nvm_pool_set_root(pool, &local) == 0; }
static bool close_open(void) {
  CHECK(nvm_tx_begin(pool) == 0);
  STORE(*(uint64_t *)nvm_alloc(pool, 0, 8), 1);
  return nvm_pool_close(pool) == 0;
}
static bool commit_aborted(void) { /* ends what close_open() began */
  CHECK(nvm_tx_begin(pool) == 0 && nvm_tx_abort(pool) == 0);
  return nvm_tx_commit(pool) == 0;
}

/* In this order. A path that is null: none is known. */
static const struct failure {
  bool (*works)(void);
  enum nvm_error code;
  const char *name, *cause, *hint;
} failures[] = {
    {no_path, NVM_EARGUMENT, NULL, "no path was given", "name the pool's file"},
    {long_path, NVM_EARGUMENT, NULL, "the path is too long", "shorter"},
    {open_missing, NVM_EMISSING, "missing", "No such file", "check the path"},
    {open_empty, NVM_EEMPTY, "empty", "the file is empty", "remove it"},
    {open_short, NVM_ETRUNCATED, "short", "ends within the header", "restore a copy"},
    {open_small, NVM_EFOREIGN, "small", "no pool of nvmove", "check the path"},
    {open_foreign, NVM_EFOREIGN, "foreign", "no pool of nvmove", "check the path"},
    {open_device, NVM_EFOREIGN, "/dev/null", "not a regular file", "check the path"},
    {open_folder, NVM_EFOREIGN, "folder", "Is a directory", "check the path"},
    {open_cut, NVM_ETRUNCATED, "cut", "bytes of", "nvmove pool repair"},
    {open_newer, NVM_EVERSION, "newer", "is newer than this library's", "update nvmove"},
    {open_spoiled, NVM_ECORRUPT, "spoiled", "both copies of the header", "nvmove pool repair"},
    {open_miscounted, NVM_ECORRUPT, "miscounted", "reference counts", "nvmove pool repair"},
    {open_protected, NVM_EREADONLY, "protected", "", "chmod"},
    {open_twice, NVM_EBUSY, "pool", "is open already", "close it there"},
    {check_missing, NVM_EMISSING, "missing", "No such file", "check the path"},
    {check_open, NVM_EBUSY, "pool", "is open already", "close it there"},
    {create_small, NVM_EARGUMENT, "new", "a pool of 1048575 bytes", "1 MiB is the least"},
    {create_huge, NVM_ETOOLARGE, "new", "a pool of 1024 GiB", "is the most"},
    {create_nowhere, NVM_EMISSING, "nowhere/new", "No such file", "folder"},
    {create_there, NVM_EEXISTS, "empty", "the file exists", "open it, or remove it"},
    {create_by_link, NVM_EEXISTS, "dangling", "a symbolic link that leads nowhere", "remove it"},
    {create_by_magic, NVM_EARGUMENT, "new", "NVMOVE_METHOD=magic",
     "'undo', 'shadow', 'lat' or 'latb'"},
    {create_on_moon, NVM_EARGUMENT, "new", "NVMOVE_DOMAIN=moon", "'process', 'power' or 'disk'"},
    {create_at_times, NVM_EARGUMENT, "new", "NVMOVE_DURABLE=sometimes",
     "'always', 'never' or a number"},
    {create_at_once, NVM_EARGUMENT, "new", "NVMOVE_DURABLE=0", "milliseconds, 1 to 60000"},
    {create_much_later, NVM_EARGUMENT, "new", "NVMOVE_DURABLE=60001", "milliseconds, 1 to 60000"},
    {create_by_units, NVM_EARGUMENT, "new", "NVMOVE_DURABLE=10ms", "milliseconds, 1 to 60000"},
    {create_misspelt, NVM_EARGUMENT, "new", "NVMOVE_OPEN=cpy", "'copy', or not set"},
    {create_comparing, NVM_EARGUMENT, "new", "NVMOVE_DEBUG=comapre", "'compare' or 'roots'"},
    {create_counting, NVM_EARGUMENT, "new", "NVMOVE_STATS=yes", "'0' or '1'"},
    {create_by_none, NVM_EARGUMENT, "new", "NVMOVE_THREADS=0", "1 or more"},
    {create_by_few, NVM_EARGUMENT, "new", "NVMOVE_THREADS=-2", "1 or more"},
    {create_tracing, NVM_EARGUMENT, "new", "NVMOVE_TRACE_MAX=1 GB", "a number of bytes"},
    {create_copy, NVM_EARGUMENT, "new", "NVMOVE_OPEN=copy", "unset it"},
    {create_bounded, NVM_EARGUMENT, "new", "NVMOVE_SHADOW_DRAM=some", "K, M or G: 512M"},
    {create_with_little, NVM_EARGUMENT, "new", "NVMOVE_SHADOW_DRAM=3K", "4096 or more"},
    {create_beyond_64_bits, NVM_EARGUMENT, "new", "NVMOVE_POOL_SIZE=17179869184G",
     "K, M or G: 512M"},
    {create_by_metod, NVM_EARGUMENT, "new", "called NVMOVE_METOD", "mean NVMOVE_METHOD?"},
    {create_by_threat, NVM_EARGUMENT, "new", "called NVMOVE_THREAT", "mean NVMOVE_THREADS?"},
    {create_by_nvmvoe, NVM_EARGUMENT, "new", "called NVMVOE_OPEN", "mean NVMOVE_OPEN?"},
    {create_by_nvmov, NVM_EARGUMENT, "new", "called NVMOV_OPEN", "mean NVMOVE_OPEN?"},
    {create_and_die_never, NVM_EARGUMENT, "new", "NVMOVE_KILL_AT=append:0", "N from 1 on"},
    {create_and_die_before, NVM_EARGUMENT, "new", "NVMOVE_KILL_AT=append:-1", "N from 1 on"},
    {create_and_die_now, NVM_EARGUMENT, "new", "NVMOVE_KILL_AT=comit:3", "as commit:3"},
    {create_and_die_when, NVM_EARGUMENT, "new", "NVMOVE_KILL_AT=commit:", "as commit:3"},
    {open_askew, NVM_EARGUMENT, "closed", "no multiple of 1 GiB", "one that is"},
    {open_somewhere, NVM_EARGUMENT, "closed", "NVMOVE_BASE=somewhere", "it is an address"},
    {without_files, NVM_ESYSTEM, "closed", "Too many open files", "ulimit -n"},
    {close_nothing, NVM_EARGUMENT, NULL, "no pool was given", "nvm_pool_open"},
    {begin_nothing, NVM_EARGUMENT, NULL, "no pool was given", "nvm_pool_open"},
    {allocate_nowhere, NVM_EARGUMENT, NULL, "no pool was given", "nvm_pool_open"},
    {commit_unbegun, NVM_ENOTX, "pool", "commit without begin", "nvm_tx_begin"},
    {abort_unbegun, NVM_ENOTX, "pool", "abort without begin", "nvm_tx_begin"},
    {allocate_nothing, NVM_EARGUMENT, "pool", "an allocation of 0 bytes", "1 byte or more"},
    {allocate_too_much, NVM_ETOOLARGE, "pool", "bytes", "may grow to"},
    {allocate_product, NVM_ETOOLARGE, "pool", "times 3 bytes", "ask for less"},
    {allocate_all, NVM_ENOMEMORY, "pool", "the pool is full", "nvmove pool convert"},
    {move_to_other_pool, NVM_EPOINTER, "other", "a block of another pool", "move it there"},
    {move_nowhere, NVM_EARGUMENT, NULL, "no pool was given", "nvm_pool_open"},
    {free_local, NVM_EPOINTER, NULL, "not the address of a block of an open pool", "nvm_alloc"},
    {free_inside, NVM_EPOINTER, "pool", "not the address of a block", "nvm_alloc"},
    {free_twice, NVM_EDOUBLEFREE, "pool", "is free already", "once"},
    {set_foreign_root, NVM_EUNSAFE, "pool", "does not lie in the pool", "nvm_alloc"},
    {close_open, NVM_EOPENTX, "pool", "a transaction open", "commit or abort it"},
    {commit_aborted, NVM_EABORTED, "pool", "aborted", "begin it again"},
};
enum { FAILURES = sizeof failures / sizeof *failures };

/* The message: PATH: CAUSE; HINT */
static void check_message(const char *name, const char *cause, const char *hint) {
  const char *said = nvm_strerror();
  if (name) {
    const char *path = *name == '/' ? name : test_path(name);
    size_t length = strlen(path);
    CHECK(strncmp(said, path, length) == 0 && strncmp(said + length, ": ", 2) == 0);
    said += length + 2;
  }
  CHECK(*said != '/' && *said != ';' && !strchr(said, '\n'));
  const char *at = strstr(said, cause), *rest = at ? strstr(at + strlen(cause), "; ") : NULL;
  CHECK(rest && strlen(rest) > strlen("; ") && strstr(rest, hint));
}

static void write_file(const char *name, const void *bytes, size_t size) {
  int fd = open(test_path(name), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0);
}

/* A pool of which both copies of the header have `value` at `at`. */
static void make_spoiled(const char *name, off_t at, unsigned char value) {
  CHECK(nvm_pool_close(test_create(test_path(name), SMALLEST)) == 0);
  int fd = open(test_path(name), O_WRONLY);
  for (int copy = 0; copy < 2; copy++)
    CHECK(pwrite(fd, &value, 1, at + copy * NVM_HEADER_COPY_SIZE) == 1);
  CHECK(close(fd) == 0);
}

static void make_files(void) {
  char text[10000];
  memset(text, 'x', sizeof text);
  write_file("empty", "", 0);
  write_file("small", text, 100);
  make_spoiled("short", sizeof(struct nvm_header) - 1, 0);
  CHECK(truncate(test_path("short"), 100) == 0);
  write_file("foreign", text, sizeof text);
  CHECK(mkdir(test_path("folder"), 0700) == 0);
  make_spoiled("closed", sizeof(struct nvm_header) - 1, 0);
  make_spoiled("cut", sizeof(struct nvm_header) - 1, 0);
  CHECK(truncate(test_path("cut"), SMALLEST / 2) == 0);
  make_spoiled("newer", offsetof(struct nvm_header, format), NVM_FORMAT + 1);
  make_spoiled("spoiled", sizeof(struct nvm_header) - 1, 1);
  make_spoiled("protected", sizeof(struct nvm_header) - 1, 0);
  CHECK(chmod(test_path("protected"), 0444) == 0);
}

TEST_ONCE(messages) {
  make_files();
  pool = test_create(test_path("pool"), SMALLEST);
  CHECK(nvm_tx_begin(pool) == 0 && (block = nvm_alloc(pool, 0, 100)) && nvm_tx_commit(pool) == 0);
  for (const struct failure *f = failures; f < failures + FAILURES; f++) {
    bool works = f->works();
    if (works || nvm_errno() != f->code)
      fprintf(stderr, "row %zu, '%s': code %d\n", (size_t)(f - failures), f->cause, nvm_errno());
    CHECK(!works && nvm_errno() == f->code);
    check_message(f->name, f->cause, f->hint);
  }
  CHECK(access(test_path("new"), F_OK) != 0);
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(test_path("pool"));
}

/* Whoever fails without saying what to do: the code knows. */
TEST_ONCE(messages_of_each_code) {
  for (int code = NVM_ESYSTEM; code < CODES; code++) {
    CHECK(nvmi_fail((enum nvm_error)code, test_path("p"), "number %d", code) == -1);
    CHECK(nvm_errno() == (enum nvm_error)code && *nvm_error_name(nvm_errno()));
    check_message("p", "number", "");
    nvmi_fail((enum nvm_error)code, NULL, "%s", "cause; hint");
    CHECK(strcmp(nvm_strerror(), "cause; hint") == 0);
  }
}

TEST_ONCE(messages_of_long_paths) {
  char path[PATH_MAX], start[] = "/nowhere";
  memset(path, '/', sizeof path - 1);
  memcpy(path, start, strlen(start));
  path[sizeof path - 1] = 0;
  CHECK_FAILS(nvm_pool_open(path), NVM_EMISSING);
  check_message(path, "No such file", "check the path");
}

static void use_in_child(void *call) {
  bool works = call == &block ? nvm_free(block) == 0 : nvm_alloc(pool, 0, 8) != NULL;
  if (!call) {
    CHECK(nvm_tx_begin(pool) == 0);
    works = nvm_tx_commit(pool) == 0;
  }
  CHECK(!works && nvm_errno() == NVM_ECHILD);
  check_message("pool", "a forked child cannot", "");
  _exit(0);
}

TEST_ONCE(messages_in_a_child) {
  pool = test_create(test_path("pool"), SMALLEST);
  block = nvm_alloc(pool, 0, 100);
  CHECK(block && test_child(NULL, use_in_child, NULL) == 0);
  CHECK(test_child(NULL, use_in_child, &block) == 0);
  CHECK(test_child(NULL, use_in_child, &pool) == 0);
  CHECK(nvm_pool_close(pool) == 0);
}
