/* harness.c: runs the tests (harness.h) and prints "N passed, N failed, N skipped" as its last
 * line.
 *
 * usage: nvmove-runtime-tests [--stop] [--jobs N] [--seconds N] [--list] [--times] [--all-ways]
 *                             [--plan FILE] [PART-OF-A-NAME]...
 * --stop: one at a time, up to the first failure. --jobs: so many tests at a time; what one prints
 * comes when it ends. --seconds: that one may take. --list: prints the names instead. --times: also
 * the seconds of processors that each took, with its children. --all-ways: under each method in each
 * domain. --plan: the tests of a file, in its order; a line is "SECONDS NAME", the time that the test
 * may take. It implies --all-ways.
 */
#define _GNU_SOURCE
#include "harness.h"

#include "format/layout.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS_MAX = 300 };

static struct test *tests;
static char folder[PATH_MAX];
static _Atomic unsigned *power_cuts; /* in memory that all processes share */

void test_register(struct test *test) {
  struct test **at = &tests;
  while (*at && strcmp((*at)->name, test->name) < 0)
    at = &(*at)->next;
  test->next = *at;
  *at = test;
}

void test_fail(const char *file, int line, const char *what) {
  fprintf(stderr, "%s:%d: %s (last failure: %s)\n", file, line, what, nvm_strerror());
  _exit(1);
}

void test_skip(const char *reason) {
  fprintf(stderr, "  %s\n", reason);
  _exit(TEST_SKIPPED);
}

void test_power_cut(void) {
  ++*power_cuts;
  _exit(POWER_CUT);
}

const char *test_path(const char *name) {
  static char paths[32][PATH_MAX];
  char path[PATH_MAX];
  if (snprintf(path, sizeof path, "%s/%s", folder, name) >= PATH_MAX)
    abort();
  for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
    if (!*paths[i])
      memcpy(paths[i], path, sizeof path);
    if (strcmp(paths[i], path) == 0)
      return paths[i];
  }
  abort();
}

uint64_t test_seed(void) {
  const char *seed = getenv("NVMOVE_TEST_SEED");
  return seed ? strtoull(seed, NULL, 10) : 0;
}

void test_flip(uint64_t at, uint8_t bits) {
  uint8_t byte;
  int fd = open(test_path("pool"), O_RDWR);
  CHECK(fd >= 0 && pread(fd, &byte, 1, (off_t)at) == 1);
  byte ^= bits;
  CHECK(pwrite(fd, &byte, 1, (off_t)at) == 1 && close(fd) == 0);
}

bool test_is_long(void) { return getenv("NVMOVE_TEST_LONG") != NULL; }

NVM_POOL *test_open(const char *path) {
  NVM_POOL *pool = nvm_pool_open(path);
  CHECK(pool != NULL);
  return pool;
}

NVM_POOL *test_create(const char *path, size_t size) {
  NVM_POOL *pool = nvm_pool_create(path, size);
  CHECK(pool != NULL);
  return pool;
}

void test_small_disk(unsigned kib) {
  char options[64];
  snprintf(options, sizeof options, "size=%uk", kib);
  CHECK(mkdir(test_path("disk"), 0700) == 0);
  if (unshare(CLONE_NEWNS) || mount("nvmove-test", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
      mount("nvmove-test", test_path("disk"), "tmpfs", 0, options))
    test_skip("needs the right to mount a small tmpfs");
}

void test_print_fault(void *context, const char *line) {
  fprintf(stderr, "%s: %s\n", (const char *)context, line);
}

static bool is_zero(const char *bytes, size_t size) {
  return !*bytes && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* nvm_calloc takes the bytes of chunks that were never used for zero. */
static void check_virgin(const char *path) {
  int fd = open(path, O_RDONLY);
  struct stat status;
  CHECK(fd >= 0 && fstat(fd, &status) == 0);
  char *file = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, fd, 0);
  CHECK(file != MAP_FAILED);
  const struct nvm_header *header = (void *)file;
  const uint64_t *words = (void *)(file + NVM_CHUNKS_OFFSET);
  uint64_t chunks = header->heap_size / NVM_CHUNK_SIZE;
  for (uint64_t i = 0; i < chunks; i += words[i] ? words[i] >> 32 : 1)
    CHECK(words[i] || is_zero(file + header->heap_offset + i * NVM_CHUNK_SIZE, NVM_CHUNK_SIZE));
  munmap(file, (size_t)status.st_size);
  close(fd);
}

void test_check_pool(const char *path) {
  CHECK(nvm_pool_check(path, test_print_fault, (void *)(uintptr_t)path) == 0);
  check_virgin(path);
}

int test_child(const char *kill, void (*body)(void *), void *argument) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that takes too long leaves nothing behind */
    if (kill)
      setenv("NVMOVE_KILL_AT", kill, 1);
    else
      unsetenv("NVMOVE_KILL_AT");
    body(argument);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

struct speaker {
  void (*body)(void *);
  void *argument;
  int fd;
};

static void speak(void *argument) {
  const struct speaker *speaker = argument;
  if (dup2(speaker->fd, STDERR_FILENO) < 0)
    _exit(1);
  speaker->body(speaker->argument);
}

int test_child_says(void (*body)(void *), void *argument, char *said, size_t size) {
  FILE *file = tmpfile();
  CHECK(file != NULL);
  struct speaker speaker = {body, argument, fileno(file)};
  int status = test_child(NULL, speak, &speaker);
  rewind(file);
  said[fread(said, 1, size - 1, file)] = 0;
  fclose(file);
  return status;
}

bool test_was_killed(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *where) {
  (void)status, (void)type, (void)where;
  return remove(path);
}

struct configuration {
  const char *method, *domain; /* "delayed": disk, with commits that do not wait */
};

struct job {
  pid_t child; /* 0: none runs */
  char name[256], folder[PATH_MAX];
  int output; /* a file without a name; -1: it prints at once */
  time_t ends;
};

enum { JOBS_MAX = 64, LATE_SECONDS = 5, LOOK_SECONDS = 3 };
static struct job jobs[JOBS_MAX];
static unsigned job_count = 1, seconds = SECONDS_MAX;
static bool stops, lists, times, all_ways;
static const char *plan;
static bool names_all; /* also those that pass */
static unsigned counts[3];

/* A test that hangs ends by SIGALRM, which it may keep from coming: then SIGKILL ends it. */
static void kill_late(int number) {
  (void)number;
  time_t now = time(NULL);
  for (unsigned i = 0; i < job_count; i++)
    if (jobs[i].child > 0 && now > jobs[i].ends)
      kill(jobs[i].child, SIGKILL);
  alarm(LOOK_SECONDS);
}

static void start(struct job *job, const struct test *test, struct configuration c) {
  snprintf(folder, sizeof folder, "/dev/shm/nvmove-test.XXXXXX");
  if (!mkdtemp(folder)) {
    perror(folder);
    exit(1);
  }
  memcpy(job->folder, folder, sizeof folder);
  job->output = job_count > 1 ? memfd_create("output", MFD_CLOEXEC) : -1;
  fflush(NULL);
  job->ends = time(NULL) + seconds + LATE_SECONDS;
  job->child = fork();
  if (job->child == 0) {
    signal(SIGALRM, SIG_DFL);
    if (job->output >= 0 && (dup2(job->output, 1) < 0 || dup2(job->output, 2) < 0))
      exit(1);
    close(job->output);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL); /* whatever has started the tests */
    alarm(seconds);
    if (c.method) {
      setenv("NVMOVE_METHOD", c.method, 1);
      bool is_delayed = strcmp(c.domain, "delayed") == 0;
      setenv("NVMOVE_DOMAIN", is_delayed ? "disk" : c.domain, 1);
      setenv("NVMOVE_DURABLE", is_delayed ? "2" : "always", 1);
    }
    test->run();
    exit(0);
  }
  if (job->child < 0) {
    perror("fork");
    exit(1);
  }
}

static void show(int output) {
  char bytes[4096];
  lseek(output, 0, SEEK_SET);
  for (ssize_t size; (size = read(output, bytes, sizeof bytes)) > 0;)
    fwrite(bytes, 1, (size_t)size, stderr);
  close(output);
}

static double seconds_of(struct timeval time) {
  return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void end(struct job *job, int status, const struct rusage *usage) {
  job->child = 0;
  nftw(job->folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
  if (job->output >= 0)
    show(job->output);
  if (WIFSIGNALED(status))
    fprintf(stderr, "ended by signal %d\n", WTERMSIG(status));
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  int outcome = code == 0 ? 0 : code == TEST_SKIPPED ? 2 : 1;
  counts[outcome]++;
  if (times)
    printf("%.2f s: %s\n", seconds_of(usage->ru_utime) + seconds_of(usage->ru_stime), job->name);
  if (outcome || names_all)
    printf("%s: %s\n", outcome == 0 ? "passed" : outcome == 1 ? "FAILED" : "skipped", job->name);
  if (outcome == 1 && stops)
    exit(1);
}

/* False: none runs. */
static bool wait_for_one(void) {
  int status;
  struct rusage usage;
  pid_t child = wait4(-1, &status, 0, &usage);
  for (unsigned i = 0; i < job_count; i++)
    if (child > 0 && jobs[i].child == child)
      end(&jobs[i], status, &usage);
  return child > 0;
}

static struct job *free_job(void) {
  for (;; wait_for_one())
    for (unsigned i = 0; i < job_count; i++)
      if (!jobs[i].child)
        return &jobs[i];
}

bool test_is_shadow(NVM_POOL *pool) {
  struct nvm_info info;
  CHECK(nvm_pool_info(pool, &info) == 0);
  return strcmp(info.method, "shadow") == 0;
}

bool test_is_on_disk(NVM_POOL *pool) {
  struct nvm_info info;
  CHECK(nvm_pool_info(pool, &info) == 0);
  return info.domain == NVM_DOMAIN_DISK;
}

bool test_is_delayed(void) {
  const char *durable = getenv("NVMOVE_DURABLE");
  return durable && strcmp(durable, "always") != 0;
}

uint64_t test_blocks(NVM_POOL *pool) {
  struct nvm_usage usage;
  CHECK(nvm_pool_usage(pool, &usage) == 0);
  return usage.blocks;
}

static bool is_wanted(const char *name, char **parts) {
  bool none = !*parts;
  for (; *parts; parts++)
    if (strstr(name, *parts))
      return true;
  return none;
}

static char **options(char **arguments) {
  for (; *arguments && strncmp(*arguments, "--", 2) == 0; arguments++) {
    if (strcmp(*arguments, "--stop") == 0)
      stops = true;
    else if (strcmp(*arguments, "--jobs") == 0 && arguments[1])
      job_count = (unsigned)strtoul(*++arguments, NULL, 10);
    else if (strcmp(*arguments, "--seconds") == 0 && arguments[1])
      seconds = (unsigned)strtoul(*++arguments, NULL, 10);
    else if (strcmp(*arguments, "--plan") == 0 && arguments[1])
      plan = *++arguments;
    else if (strcmp(*arguments, "--list") == 0)
      lists = true;
    else if (strcmp(*arguments, "--times") == 0)
      times = true;
    else if (strcmp(*arguments, "--all-ways") == 0)
      all_ways = true;
    else {
      fprintf(stderr,
              "%s: no such option; --stop, --jobs N, --seconds N, --list, --times, --all-ways, "
              "--plan FILE, then parts of names\n",
              *arguments);
      exit(2);
    }
  }
  job_count = job_count < 1 || stops ? 1 : job_count > JOBS_MAX ? JOBS_MAX : job_count;
  return arguments;
}

typedef void run_test(const struct test *test, struct configuration c, const char *name,
                      void *context);

static void in_configuration(run_test *run, const struct test *test, struct configuration c,
                             void *context) {
  char name[NAME_MAX + 1];
  snprintf(name, sizeof name, "%s %s %s", test->name, c.method, c.domain);
  run(test, c, name, context);
}

/* Short tests: each method once, each domain once, in one of the two ways to pair them, which differs
 * from test to test. */
static bool is_paired(const struct test *test, unsigned method, unsigned domain) {
  unsigned sum = 0;
  for (const char *at = test->name; *at; at++)
    sum = sum * 31 + (unsigned char)*at;
  return (sum >> 4 & 1) == ((method + domain) & 1);
}

/* Calls `run` for each test in each of its configurations, with its whole name. */
static void each_test(run_test *run, void *context) {
  static const char *const methods[] = {"undo", "shadow", "lat", "latb"};
  static const char *const domains[] = {"process", "power", "disk"};
  static const unsigned of_kind[] = {[TEST_EACH] = 2, [TEST_EXPLICIT] = 4};
  unsigned end = test_is_long() ? 3 : 2;
  bool pairs = !all_ways && !plan && !test_is_long();
  unsigned first = 0;
#if __has_feature(thread_sanitizer)
  if (pairs)
    first = 1; /* whose threads do all that the first one's do */
#endif
  for (const struct test *test = tests; test; test = test->next) {
    if (test->kind == TEST_ALONE)
      run(test, (struct configuration){0}, test->name, context);
    for (unsigned i = 0; i < of_kind[test->kind]; i++)
      for (unsigned domain = first; domain < end; domain++)
        if (!pairs || is_paired(test, i, domain))
          in_configuration(run, test, (struct configuration){methods[i], domains[domain]}, context);
    if (test->kind != TEST_ALONE && test_is_long())
      in_configuration(run, test, (struct configuration){"shadow", "delayed"}, context);
  }
}

static void run_wanted(const struct test *test, struct configuration c, const char *name,
                       void *wanted) {
  if (!is_wanted(name, wanted))
    return;
  if (lists) {
    puts(name);
    return;
  }
  struct job *job = free_job();
  snprintf(job->name, sizeof job->name, "%s", name);
  start(job, test, c);
}

static void run_named(const struct test *test, struct configuration c, const char *name,
                      void *wanted) {
  if (strcmp(name, wanted) != 0)
    return;
  struct job *job = free_job();
  snprintf(job->name, sizeof job->name, "%s", name);
  start(job, test, c);
}

/* Read whole first: a child that exits sets back the place in a file that it shares. */
static void run_plan(void) {
  struct planned {
    unsigned seconds;
    char name[NAME_MAX + 1];
  } *all = NULL, one;
  size_t count = 0;
  FILE *file = fopen(plan, "r");
  if (!file) {
    perror(plan);
    exit(2);
  }
  while (fscanf(file, "%u %255[^\n]", &one.seconds, one.name) == 2) {
    all = realloc(all, (count + 1) * sizeof *all);
    CHECK(all);
    all[count++] = one;
  }
  fclose(file);
  for (size_t i = 0; i < count; i++) {
    seconds = all[i].seconds;
    each_test(run_named, all[i].name);
  }
  free(all);
}

int main(int argc, char **argv) {
  (void)argc;
  char **wanted = options(argv + 1);
  names_all = *wanted || plan;
  power_cuts =
      mmap(NULL, sizeof *power_cuts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = kill_late, .sa_flags = SA_RESTART}, NULL);
  alarm(LOOK_SECONDS);
  if (plan)
    run_plan();
  else
    each_test(run_wanted, wanted);
  while (wait_for_one())
    ;
  if (!lists && *power_cuts)
    printf("%u states that a simulated end of the machine left\n", *power_cuts);
  if (!lists)
    printf("%u passed, %u failed, %u skipped\n", counts[0], counts[1], counts[2]);
  return counts[1] != 0;
}
