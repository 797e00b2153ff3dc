/* faults.c: each system call and allocation of libnvmove fails once, at its n-th call, for all n.
 *
 * The linker sends the calls through the functions __wrap_... below (CMakeLists.txt). A program
 * that creates a pool, writes, lets it grow, closes it and opens it again must see each failure as
 * a typed error or not at all, or the process must stop with a message, where there is nobody to
 * tell. It may not crash, and what it was told to be durable is there afterwards.
 */
#define _GNU_SOURCE
#include "harness.h"
#include "hooks.h"
#include "simulation.h"
#include "sparse.h"
#include "store.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FATAL = 9, WORDS = 64, LARGE = 3 << 20, SHORT = -1 };

static struct fault {
  const char *call; /* null: none */
  int error;        /* errno, or SHORT: half of what was asked for */
  unsigned left;
} fault;

/* Whether this is the call that fails. */
static bool strikes(const char *call) {
  return fault.call && strcmp(fault.call, call) == 0 && fault.left && --fault.left == 0;
}

#define WRAP(type, name, parameters, arguments, failed)                                            \
  type __real_##name parameters;                                                                   \
  type __wrap_##name parameters {                                                                  \
    if (!strikes(#name))                                                                           \
      return __real_##name arguments;                                                              \
    errno = fault.error;                                                                           \
    return failed;                                                                                 \
  }

bool hook_sparse;

/* All that is seen of blocks but for the room on the disk: the size. */
static int make_longer(int fd, off_t end) {
  struct stat status;
  bool is_short = fstat(fd, &status) == 0 && status.st_size < end;
  return is_short && ftruncate(fd, end) ? errno : 0;
}

int __real_posix_fallocate(int fd, off_t at, off_t size);
int __wrap_posix_fallocate(int fd, off_t at, off_t size);
int __wrap_posix_fallocate(int fd, off_t at, off_t size) {
  if (strikes("posix_fallocate"))
    return fault.error;
  return hook_sparse ? make_longer(fd, at + size) : __real_posix_fallocate(fd, at, size);
}

int __real_fallocate(int fd, int mode, off_t at, off_t size);
int __wrap_fallocate(int fd, int mode, off_t at, off_t size);
int __wrap_fallocate(int fd, int mode, off_t at, off_t size) {
  return hook_sparse && mode == 0 ? 0 : __real_fallocate(fd, mode, at, size);
}
bool fault_no_memory;
void (*hook_map)(void);

void *__real_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset);
void *__wrap_mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset) {
  void *made = MAP_FAILED;
  if (hook_map)
    hook_map();
  if (fault_no_memory)
    errno = ENOMEM;
  else if (strikes("mmap"))
    errno = fault.error;
  else
    hook_mapped(made = __real_mmap(at, size, protection, flags, fd, offset), size);
  return made;
}
bool fault_old_kernel;

void (*hook_dropped)(void *at, size_t size);

int __real_madvise(void *at, size_t size, int advice);
int __wrap_madvise(void *at, size_t size, int advice) {
  bool unknown = fault_old_kernel && advice == MADV_POPULATE_WRITE;
  if (hook_dropped && advice == MADV_DONTNEED)
    hook_dropped(at, size);
  if (!unknown && !strikes("madvise"))
    return __real_madvise(at, size, advice);
  errno = unknown ? EINVAL : fault.error;
  return -1;
}
void (*hook_synced)(void);

int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __wrap_fsync(int fd) {
  if (strikes("fsync")) {
    errno = fault.error;
    return -1;
  }
  int result = __real_fsync(fd);
  if (hook_synced)
    hook_synced();
  return result;
}
WRAP(int, flock, (int fd, int how), (fd, how), -1)
WRAP(int, fstat, (int fd, struct stat *status), (fd, status), -1)
WRAP(ssize_t, getrandom, (void *to, size_t size, unsigned flags), (to, size, flags), -1)
WRAP(int, linkat, (int from, const char *name, int to, const char *as, int flags),
     (from, name, to, as, flags), -1)

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (!strikes("open"))
    return __real_open(path, flags, mode);
  errno = fault.error;
  return -1;
}

long long fault_bad_page;
bool fault_reads_in_part;

/* As the kernel does: what it has got so far, and the error with the next call. */
static size_t readable(size_t size, off_t offset) {
  static unsigned calls;
  if (fault_bad_page >= offset && fault_bad_page < offset + (off_t)size && fault_bad_page) {
    errno = EIO;
    return (size_t)(fault_bad_page - offset);
  }
  errno = EINTR;
  if (fault_reads_in_part)
    return ++calls % 2 ? 0 : (size + 1) / 2;
  return size;
}

ssize_t __real_pread(int fd, void *to, size_t size, off_t offset);
ssize_t __wrap_pread(int fd, void *to, size_t size, off_t offset) {
  size_t part = readable(size, offset);
  if (part < size)
    return part ? __real_pread(fd, to, part, offset) : -1;
  if (!strikes("pread"))
    return __real_pread(fd, to, size, offset);
  if (fault.error == SHORT)
    return __real_pread(fd, to, size / 2, offset);
  errno = fault.error;
  return -1;
}

static const struct fault kinds[] = {{"open", EACCES, 0},
                                     {"open", EINTR, 0},
                                     {"open", EMFILE, 0},
                                     {"posix_fallocate", ENOSPC, 0},
                                     {"posix_fallocate", EINTR, 0},
                                     {"mmap", ENOMEM, 0},
                                     {"madvise", ENOMEM, 0},
                                     {"fsync", EIO, 0},
                                     {"fsync", EINTR, 0},
                                     {"flock", EINTR, 0},
                                     {"flock", ENOLCK, 0},
                                     {"fstat", EIO, 0},
                                     {"getrandom", EINTR, 0},
                                     {"linkat", EACCES, 0},
                                     {"pread", EIO, 0},
                                     {"pread", EINTR, 0},
                                     {"pread", SHORT, 0}};

/* Shared with the process that meets the fault. */
struct seen {
  unsigned left;      /* of the fault: 0, it was met */
  uint64_t committed; /* as the program was told */
};

struct scenario {
  const char *path;
  struct seen *seen;
};

static void stop(enum nvm_error code, const char *message) { _exit(code && *message ? FATAL : 1); }

/* A typed error; the program gives up, closing what it has. */
static _Noreturn void give_up(struct scenario *s, NVM_POOL *pool) {
  if (nvm_errno() == NVM_OK || !*nvm_strerror())
    _exit(1);
  if (pool)
    nvm_pool_close(pool);
  s->seen->left = fault.left;
  _exit(0);
}

#define NEED(condition)                                                                            \
  do {                                                                                             \
    if (!(condition))                                                                              \
      give_up(s, pool);                                                                            \
  } while (0)

/* Writes `value` to all words, and gives one block back for a large new one. */
static void write_all(struct scenario *s, NVM_POOL *pool, uint64_t value) {
  NEED(nvm_tx_begin(pool) == 0);
  uint64_t *words = nvm_pool_root(pool);
  for (int i = 1; i < WORDS; i++)
    STORE(words[i], value);
  void *large = nvm_alloc(pool, 0, LARGE);
  if (!large || nvm_free((void *)(uintptr_t)words[0])) {
    nvm_tx_abort(pool);
    give_up(s, pool);
  }
  STORE(words[0], (uint64_t)(uintptr_t)large);
  NEED(nvm_tx_commit(pool) == 0);
  s->seen->committed = value;
}

static void prepare(struct scenario *s, NVM_POOL *pool) {
  NEED(nvm_tx_begin(pool) == 0);
  uint64_t *words = nvm_calloc(pool, 0, WORDS, sizeof *words);
  NEED(words && nvm_pool_set_root(pool, words) == 0);
  NEED(nvm_tx_commit(pool) == 0);
}

static void use_pools(void *argument) {
  struct scenario *s = argument;
  nvm_set_fatal_handler(stop);
  bool exists = access(s->path, F_OK) == 0;
  NVM_POOL *pool = exists ? nvm_pool_open(s->path) : nvm_pool_create(s->path, 1 << 20);
  NEED(pool);
  if (!nvm_pool_root(pool))
    prepare(s, pool);
  uint64_t last = ((uint64_t *)nvm_pool_root(pool))[1];
  write_all(s, pool, last + 1);
  write_all(s, pool, last + 2);
  NEED(nvm_pool_close(pool) == 0);
  pool = nvm_pool_open(s->path);
  NEED(pool);
  write_all(s, pool, last + 3);
  NEED(nvm_pool_close(pool) == 0);
  s->seen->left = fault.left;
}

/* The words are those of the last commit that the program knows of, or of one more. */
static void verify(const struct scenario *s) {
  fault.call = NULL;
  if (access(s->path, F_OK) != 0) {
    CHECK(s->seen->committed == 0);
    return;
  }
  NVM_POOL *pool = test_open(s->path);
  const uint64_t *words = nvm_pool_root(pool);
  uint64_t value = words ? words[1] : 0;
  CHECK(value == s->seen->committed || value == s->seen->committed + 1);
  for (int i = 1; words && i < WORDS; i++)
    CHECK(words[i] == value);
  CHECK(test_blocks(pool) == (words ? 1 + (words[0] != 0) : 0));
  CHECK(nvm_pool_close(pool) == 0);
  test_check_pool(s->path);
}

/* A message and abort(), or the fatal handler, are for stores that nobody can be told of. */
static bool ended_well(int status) {
  return status == 0 || (WIFEXITED(status) && WEXITSTATUS(status) == FATAL) ||
         (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* One run that meets the n-th call; false: there is none. */
static bool meet(struct scenario *s, const struct fault *kind, unsigned n) {
  s->seen->left = 1;
  fault = *kind;
  fault.left = n;
  int status = test_child(NULL, use_pools, s);
  if (!ended_well(status))
    fprintf(stderr, "%s, error %d, call %u: status %#x\n", kind->call, kind->error, n,
            (unsigned)status);
  CHECK(ended_well(status));
  verify(s);
  return status != 0 || !s->seen->left;
}

/* What a call's failure is told as, where a program is sure to be told. Of two calls of open the first
 * takes low numbers, and may fail. */
static const struct told {
  struct fault fault;
  bool creates;
  enum nvm_error code;
} told[] = {{{"mmap", ENOMEM, 1}, true, NVM_ENOMEMORY},
            {{"mmap", ENOMEM, 1}, false, NVM_ENOMEMORY},
            {{"getrandom", EINTR, 1}, true, NVM_ESYSTEM},
            {{"open", EMFILE, 2}, true, NVM_ESYSTEM},
            {{"open", EACCES, 2}, true, NVM_EREADONLY},
            {{"open", EROFS, 2}, true, NVM_EREADONLY},
            {{"open", ENFILE, 2}, false, NVM_ESYSTEM},
            {{"open", EPERM, 2}, false, NVM_EREADONLY},
            {{"posix_fallocate", ENOSPC, 1}, true, NVM_ENOSPACE},
            {{"posix_fallocate", EDQUOT, 2}, true, NVM_ENOSPACE},
            {{"posix_fallocate", EIO, 1}, true, NVM_ESYSTEM},
            {{"fsync", EIO, 1}, true, NVM_ESYSTEM},
            {{"linkat", EACCES, 1}, true, NVM_EREADONLY},
            {{"linkat", EEXIST, 1}, true, NVM_EEXISTS},
            {{"flock", EWOULDBLOCK, 1}, false, NVM_EBUSY},
            {{"flock", ENOLCK, 1}, false, NVM_ESYSTEM},
            {{"fstat", EIO, 1}, false, NVM_ESYSTEM},
            {{"fstat", EIO, 2}, false, NVM_ESYSTEM},
            {{"fstat", EIO, 4}, false, NVM_ESYSTEM}};

static void check_told(const struct told *t, const char *path) {
  fault = t->fault;
  NVM_POOL *pool = t->creates ? nvm_pool_create(path, 1 << 20) : nvm_pool_open(path);
  bool met = fault.left == 0;
  fault.call = NULL;
  if (pool || !met || nvm_errno() != t->code)
    fprintf(stderr, "%s, error %d: code %d\n", t->fault.call, t->fault.error, nvm_errno());
  CHECK(!pool && met && nvm_errno() == t->code);
  CHECK(strncmp(nvm_strerror(), path, strlen(path)) == 0 && strstr(nvm_strerror(), "; "));
}

TEST_ONCE(faults_are_told) {
  const char *there = test_path("there"), *fresh = test_path("fresh");
  CHECK(nvm_pool_close(test_create(there, 1 << 20)) == 0);
  for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
    check_told(&told[i], told[i].creates ? fresh : there);
    CHECK(access(fresh, F_OK) != 0);
    test_check_pool(there);
    CHECK(nvm_pool_close(test_open(there)) == 0);
  }
}

/* From `start` (null: nothing is there) on, of which so much is committed. */
static unsigned meet_all(const char *start, uint64_t committed) {
  struct scenario s = {.path = test_path("pool")};
  s.seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  unsigned met = 0;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
    bool goes_on = true;
    for (unsigned n = 1; goes_on; n++) {
      s.seen->committed = committed;
      if (start)
        sparse_copy(start, s.path);
      goes_on = meet(&s, &kinds[k], n);
      met += goes_on;
      unlink(s.path);
    }
  }
  return met;
}

TEST(faults_at_every_call) { CHECK(meet_all(NULL, 0) > 60); }

/* The same where the first opening has something to recover. */
TEST(faults_in_recovery) {
  struct scenario s = {.path = test_path("start")};
  s.seen = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  fault.call = NULL;
  CHECK(test_was_killed(test_child("commit:9", use_pools, &s)) && s.seen->committed >= 1);
  CHECK(meet_all(s.path, s.seen->committed) > 40);
}
