/* harness.c: runs generated programs as a script says, kills them, and judges what is left.
 *
 * usage: harness SCRIPT FOLDER [LIBRARY]
 *
 * The script (script.py) has for each program the runs to make of it, and the order of its steps
 * with what memory must be after each, what must have survived, and what may have where the end
 * came in the middle. Each run is a process of its own: it opens a copy of an untouched pool,
 * starts the program's threads, hands the turn from one to the other and compares memory with the
 * model after every step. It ends by closing, or is killed at a step, or by NVMOVE_KILL_AT. Another
 * process opens what is left (after one whose recovery is killed, if the run says so) and compares
 * it. A line for each failure; the last line counts.
 */
#define _GNU_SOURCE
#include "harness.h"

#include "image.h"

#include "nvmove/abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
  SECONDS_MAX = 20,
  SAID = 300,
  POOL_BYTES = 1 << 20,
  SIDE_BYTES = 56,
  WRONG = 3,
  OPERATIONS_MAX = 400
};

/* Of a pool that counts references: whether what nothing leads to is gone. */
enum freed { NOTHING_FREED, SOME_FREED, ALL_FREED };

struct shared {         /* by all processes of a run */
  volatile int step;    /* that was begun last */
  volatile bool inside; /* it has not ended */
  char said[SAID];
  volatile u64 objects[OBJECTS_MAX]; /* as offsets from the pool once it is closed */
  volatile u64 base;
  volatile bool committed[OPERATIONS_MAX]; /* commits that returned and had not failed */
  volatile enum freed freed;
};

struct run {
  char kind[16], kill[32], method[8], domain[8], after[8];
  int step, recover, compare, counts;
};

extern const struct gen_table gen_table __attribute__((weak));
extern const char gen_script[] __attribute__((weak));
struct gen_lock gen_locks[GEN_LOCKS_MAX];
volatile u64 *gen_objects;

static const struct gen_table *table;
static struct shared *shared;
static const struct gen_program *program;
static unsigned node_bytes;
static char pool_path[200], side_path[200];
static char fresh_path[3][200]; /* the second counts references, the third is for the side */
static enum { NO_SIDE, SIDE_BEHIND, SIDE_BEFORE } side_order; /* as they are opened */
static NVM_POOL *side_pool;
static _Atomic int go[GEN_THREADS_MAX], done[GEN_THREADS_MAX];
static pthread_t threads[GEN_THREADS_MAX];
static struct image image, other;
static int errors; /* what a run says on stderr */

static _Noreturn void wrong(const char *what, const char *detail) {
  if (!*shared->said)
    snprintf(shared->said, SAID, "step %d%s: %s: %s", shared->step,
             shared->inside ? " (inside)" : "", what, detail);
  _exit(WRONG);
}

static void need(bool condition, const char *what) {
  if (!condition)
    wrong(what, nvm_strerror());
}

static void wake(_Atomic int *word, int value) {
  atomic_store(word, value);
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void await(_Atomic int *word, int value) {
  for (int seen; (seen = atomic_load(word)) < value;)
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
}

/* Whether memory is compared after each step. With the methods lat and latb new values are elsewhere than in place
 * until somebody asks for them there; some runs do not. */
static bool looks = true;

void gate(unsigned thread, unsigned segment) {
  if (looks)
    __nvm_settle_all();
  wake(&done[thread], (int)segment - 1);
  await(&go[thread], (int)segment);
}

void gate_quiet(unsigned thread, unsigned segment) { gate(thread, segment); }

void gen_check(int result, unsigned allowed, unsigned op) {
  unsigned error = result ? (unsigned)nvm_errno() : 0;
  if (allowed >> error & 1) {
    if (op < OPERATIONS_MAX && !error)
      shared->committed[op] = true;
    return;
  }
  char what[60];
  snprintf(what, sizeof what, "operation %u gave %u, allowed are the bits %#x", op, error, allowed);
  wrong(what, result ? nvm_strerror() : "success");
}

static void *thread_main(void *number) {
  unsigned thread = (unsigned)(uintptr_t)number;
  program->body[thread]();
  wake(&done[thread], 1 << 20);
  return NULL;
}

static void compare_memory(const char *what) {
  char said[SAID];
  if (!image_is(&image, (const u64 *)(uintptr_t)shared->objects, said, sizeof said))
    wrong(what, said);
}

/* One line of a step: hands the turn on. */
static void act(const char *line) {
  unsigned thread, segment, pause = 0;
  if (sscanf(line + 1, "%u %u %u", &thread, &segment, &pause) < 1)
    wrong("bad script", line);
  if (*line == 'G' || *line == 'N')
    wake(&go[thread], (int)segment);
  if (*line == 'G' || *line == 'W')
    await(&done[thread], (int)segment);
  if (*line == 'J') {
    wake(&go[thread], (int)segment);
    pthread_join(threads[thread], NULL);
  }
  if (pause)
    usleep(pause);
}

/* The child has the pool's memory as it was at the fork (undo: none), and may not allocate. */
void gen_fork(unsigned op) {
  NVM_POOL *pool = nvm_pool_of((void *)(uintptr_t)shared->objects[0]);
  struct nvm_info info;
  nvm_pool_info(pool, &info);
  const u8 *world = (const u8 *)(uintptr_t)shared->objects[0];
  static u8 copy[WORLD_MAX];
  memcpy(copy, world, table->world_bytes);
  pid_t forked = fork();
  if (!forked) {
    bool same = strcmp(getenv("NVMOVE_METHOD"), "shadow") != 0 ||
                memcmp(copy, world, table->world_bytes) == 0;
    bool refused = !nvm_alloc(pool, 0, 64) && nvm_errno() == NVM_ECHILD;
    _exit(same && refused ? 0 : 1);
  }
  int status = 0;
  waitpid(forked, &status, 0);
  gen_check(WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1, 1, op);
}

static const char *next_line(const char *line) {
  const char *end = strchr(line, '\n');
  return end ? end + 1 : line + strlen(line);
}

static void follow(const struct run *run, const char *line) {
  bool live = false, any = false;
  for (; *line != 'E'; line = next_line(line)) {
    if (*line == 'S') {
      if (any) {
        if (looks)
          compare_memory("memory");
        shared->inside = false;
        if (run->step == shared->step)
          kill(getpid(), SIGKILL);
      }
      any = true;
      shared->step = atoi(line + 1);
      shared->inside = true;
    } else if (strchr("GNWJ", *line)) {
      act(line);
    } else if (strchr("LDIAXY", *line)) {
      live = *line == 'L';
    } else if (live) {
      image_line(&image, line);
    }
  }
  compare_memory("memory");
  shared->inside = false;
}

static void init_locks(void) {
  for (unsigned i = 0; i < GEN_LOCKS_MAX; i++) {
    struct gen_lock *lock = &gen_locks[i];
    pthread_mutex_init(&lock->mutex, NULL);
    pthread_rwlock_init(&lock->rwlock, NULL);
    pthread_spin_init(&lock->spin, PTHREAD_PROCESS_PRIVATE);
    sem_init(&lock->semaphore, 0, 1);
    mtx_init(&lock->mtx, mtx_plain);
    pthread_cond_init(&lock->condition, NULL);
  }
}

/* The domain "delayed": disk, with commits that do not wait, where the method can. */
static void settings(const char *method, const struct run *run, const char *kill_at) {
  bool is_delayed = strcmp(run->domain, "delayed") == 0;
  setenv("NVMOVE_METHOD", method, 1);
  setenv("NVMOVE_DOMAIN", is_delayed ? "disk" : run->domain, 1);
  setenv("NVMOVE_DURABLE", is_delayed && strcmp(method, "shadow") == 0 ? "2" : "always", 1);
  if (kill_at)
    setenv("NVMOVE_KILL_AT", kill_at, 1);
  bool has_aliases = strncmp(method, "lat", 3) == 0;
  looks = run->compare || !has_aliases;
  if (run->compare && !has_aliases)
    setenv("NVMOVE_DEBUG", "compare", 1);
  alarm(SECONDS_MAX);
}

static void print_fault(void *unused, const char *line) {
  (void)unused;
  if (!*shared->said)
    snprintf(shared->said, SAID, "step %d: pool check: %.200s", shared->step, line);
}

/* No linked block is freed, and all others are. */
static void release(NVM_POOL *pool) {
  uint64_t freed = 0;
  need(nvm_pool_verify(pool, print_fault, NULL) == 0, "counts");
  unsigned blocks = image_blocks(&image);
  image_release(&image);
  shared->freed = SOME_FREED;
  need(nvm_pool_release(pool, &freed) == 0, "release");
  shared->freed = ALL_FREED;
  if (freed != blocks - image_blocks(&image))
    wrong("release", freed > blocks - image_blocks(&image) ? "too many" : "too few");
  compare_memory("memory after release");
}

static NVM_POOL *open_pools(void) {
  if (side_order == SIDE_BEFORE)
    side_pool = nvm_pool_open(side_path);
  NVM_POOL *pool = nvm_pool_open(pool_path);
  need(pool != NULL, "open");
  if (side_order == SIDE_BEHIND)
    side_pool = nvm_pool_open(side_path);
  need(!side_order || side_pool, "open the side");
  return pool;
}

static void close_pools(NVM_POOL *pool) {
  need(nvm_pool_close(pool) == 0, "close");
  need(!side_order || nvm_pool_close(side_pool) == 0, "close the side");
}

static u64 side_root(void) { return side_order ? (u64)(uintptr_t)nvm_pool_root(side_pool) : 0; }

static void run_child(const struct run *run, const char *script) {
  settings(run->method, run, strcmp(run->kill, "-") ? run->kill : NULL);
  init_locks();
  NVM_POOL *pool = open_pools();
  shared->base = (u64)(uintptr_t)nvm_pool_base(pool);
  shared->objects[0] = (u64)(uintptr_t)nvm_pool_root(pool);
  shared->objects[1] = side_root();
  image_start(&image, table->world_bytes, node_bytes, side_order);
  table->start(pool, nvm_pool_root(pool), (void *)(uintptr_t)side_root());
  for (unsigned i = 0; i < program->threads; i++)
    pthread_create(&threads[i], NULL, thread_main, (void *)(uintptr_t)i);
  follow(run, script);
  if (run->counts)
    release(pool);
  close_pools(pool);
  _exit(0);
}

/* Leaves in `image` what must have survived before the step in which the end came; gives its lines.
 */
static const char *replay(const char *line, int step, bool inside) {
  bool durable = false;
  image_start(&image, table->world_bytes, node_bytes, side_order);
  const char *begin = line;
  for (; *line != 'E'; line = next_line(line)) {
    if (*line == 'S') {
      if (atoi(line + 1) == step) {
        begin = line;
        if (inside)
          return begin;
      }
      if (atoi(line + 1) > step)
        return begin;
      durable = false;
    } else if (strchr("LDIAXY", *line)) {
      durable = *line == 'D';
    } else if (durable) {
      image_line(&image, line);
    }
  }
  return begin;
}

static bool is_right(NVM_POOL *pool, const struct image *wanted, const u64 *objects, char *said) {
  struct nvm_usage usage, side = {0};
  struct image left = *wanted;
  if (shared->freed)
    image_release(&left);
  if (!image_is(&left, objects, said, SAID))
    return false;
  need(nvm_pool_usage(pool, &usage) == 0, "usage");
  need(!side_order || nvm_pool_usage(side_pool, &side) == 0, "usage of the side");
  usage.blocks += side.blocks;
  unsigned least = image_blocks(&left);
  unsigned most = shared->freed == SOME_FREED ? image_blocks(wanted) : least;
  if (usage.blocks >= least && usage.blocks <= most)
    return true;
  snprintf(said, SAID, "%lu blocks, must be %u", (unsigned long)usage.blocks, least);
  return false;
}

/* A commit of those in `waiting` that has returned is in a state, or the
 * state is not allowed. Both are lines: a letter and numbers. */
static bool contains_all(const char *state, const char *waiting) {
  if (!waiting)
    return true;
  for (char *next = (char *)(uintptr_t)waiting + 1; *next == ' ';) {
    unsigned long op = strtoul(next, &next, 10), other = 0;
    bool found = !shared->committed[op];
    for (char *one = (char *)(uintptr_t)state + 1; state && *one == ' ' && !found;) {
      other = strtoul(one, &one, 10);
      found = other == op;
    }
    if (!found)
      return false;
  }
  return true;
}

static const char *line_of(const char *step, char kind) {
  for (step = next_line(step); *step != 'E' && *step != 'S'; step = next_line(step))
    if (*step == kind)
      return step;
  return NULL;
}

/* What is in the pool is one of the states that the script allows. */
static void judge(NVM_POOL *pool, const char *script) {
  char said[SAID], first[SAID];
  u64 objects[OBJECTS_MAX], base = (u64)(uintptr_t)nvm_pool_base(pool);
  for (unsigned i = 0; i < OBJECTS_MAX; i++)
    objects[i] = shared->objects[i] - shared->base + base;
  objects[1] = side_root();
  bool inside = shared->inside;
  const char *line = replay(script, shared->step, inside);
  const char *waiting = line_of(line, inside ? 'X' : 'Y');
  unsigned states = 1;
  bool early = false;
  if (is_right(pool, &image, objects, first)) {
    if (contains_all(NULL, waiting))
      return;
    early = true;
  }
  const char *wanted = inside ? "DI" : "A";
  for (line = next_line(line); *line != 'E' && *line != 'S'; line = next_line(line)) {
    if (!strchr(wanted, *line))
      continue;
    other = image;
    if (!contains_all(line, waiting))
      continue;
    const char *next;
    for (const char *one = next_line(line); (next = image_line(&other, one)); one = next)
      ;
    states++;
    if (is_right(pool, &other, objects, said))
      return;
  }
  if (early)
    wrong("after opening", "a commit that had returned is lost");
  size_t used = strlen(first);
  snprintf(first + used, SAID - used, " (none of %u states)", states);
  wrong("after opening", first);
}

static void check_pool(void) {
  if (nvm_pool_check(pool_path, print_fault, NULL) != 0 ||
      (side_order && nvm_pool_check(side_path, print_fault, NULL) != 0))
    wrong("pool check", nvm_strerror());
}

static void verify_child(const struct run *run, const char *script) {
  settings(run->after, run, NULL);
  check_pool();
  for (int i = 0; i < 2; i++) {
    NVM_POOL *pool = open_pools();
    if (run->counts)
      need(nvm_pool_verify(pool, print_fault, NULL) == 0, "counts again");
    judge(pool, script);
    close_pools(pool);
    if (run->counts)
      shared->freed = ALL_FREED;
  }
  check_pool();
  _exit(0);
}

static void recover_child(const struct run *run, const char *script) {
  char kill_at[32];
  (void)script;
  snprintf(kill_at, sizeof kill_at, "recover:%d", run->recover);
  settings(run->after, run, kill_at);
  open_pools();
  kill(getpid(), SIGKILL);
}

static void create_child(const struct run *run, const char *script) {
  (void)script;
  NVM_POOL *pool = nvm_pool_create(fresh_path[run->counts], POOL_BYTES);
  need(pool && nvm_tx_begin(pool) == 0, "create");
  void *world = nvm_calloc(pool, table->world_type(), 1, table->world_bytes);
  need(world != NULL, "nvm_calloc");
  table->fill(world);
  need(nvm_pool_set_root(pool, world) == 0 && nvm_tx_commit(pool) == 0, "fill");
  need(!run->counts || nvm_pool_count_references(pool) == 0, "counting");
  need(nvm_pool_close(pool) == 0, "close");
  _exit(0);
}

/* Gives whether it ended as it must. */
static bool in_child(void (*body)(const struct run *, const char *), const struct run *run,
                     const char *script, bool may_be_killed) {
  pid_t child = fork();
  if (!child) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(errors, STDERR_FILENO);
    body(run, script);
    _exit(WRONG);
  }
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL && may_be_killed)
    return true;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return true;
  if (!*shared->said)
    snprintf(shared->said, SAID, "step %d: %s %d", shared->step,
             WIFSIGNALED(status) ? "ended by signal" : "ended with",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
  return false;
}

static void create_side(const struct run *run, const char *script) {
  (void)run, (void)script;
  NVM_POOL *pool = nvm_pool_create(fresh_path[2], POOL_BYTES);
  need(pool && nvm_tx_begin(pool) == 0, "create the side");
  void *block = nvm_calloc(pool, 0, 1, SIDE_BYTES);
  need(block && nvm_pool_set_root(pool, block) == 0 && nvm_tx_commit(pool) == 0 &&
           nvm_pool_close(pool) == 0,
       "fill the side");
  _exit(0);
}

static void copy_pool(const char *source, const char *target) {
  int from = open(source, O_RDONLY | O_CLOEXEC);
  int to = open(target, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  static char buffer[1 << 16];
  for (ssize_t got; (got = read(from, buffer, sizeof buffer)) > 0;)
    if (write(to, buffer, (size_t)got) != got)
      abort();
  close(from);
  close(to);
}

/* The lines that do not tell of the domain. */
static void add_errors(void) {
  char text[2000];
  ssize_t size = pread(errors, text, sizeof text - 1, 0);
  text[size < 0 ? 0 : size] = 0;
  for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
    if (!strstr(line, "domain is forced") && !strstr(line, "domain is chosen")) {
      size_t used = strlen(shared->said);
      snprintf(shared->said + used, SAID - used, "; %s", line);
    }
}

static bool one_run(const struct run *run, const char *script) {
  copy_pool(fresh_path[run->counts], pool_path);
  if (side_order)
    copy_pool(fresh_path[2], side_path);
  memset(shared, 0, sizeof *shared);
  if (ftruncate(errors, 0) || lseek(errors, 0, SEEK_SET))
    abort();
  bool kills = run->step >= 0 || strcmp(run->kill, "-") != 0;
  return in_child(run_child, run, script, kills) &&
         (!run->recover || in_child(recover_child, run, script, true)) &&
         in_child(verify_child, run, script, false);
}

static char *read_script(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file)
    return NULL;
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  char *text = calloc(size + 1, 1);
  if (fread(text, 1, size, file) != size)
    abort();
  fclose(file);
  return text;
}

/* "P NUMBER NODE_BYTES SIDE", lines "C ..." (image.h), lines "R KIND STEP KILL METHOD DOMAIN AFTER
 * RECOVER COMPARE COUNTS", the steps, "E". */
static const char *one_program(const char *line, unsigned *runs, unsigned *failed) {
  unsigned number;
  unsigned side = 0;
  sscanf(line, "P %u %u %u", &number, &node_bytes, &side);
  side_order = side;
  program = &table->program[number];
  const char *script = line;
  while (*script != 'S' && *script != 'E')
    script = next_line(script);
  for (image_cell(line), line = next_line(line); *line == 'C'; line = next_line(line))
    image_cell(line);
  for (; *line == 'R'; line = next_line(line)) {
    struct run run;
    if (sscanf(line, "R %15s %d %31s %7s %7s %7s %d %d %d", run.kind, &run.step, run.kill,
               run.method, run.domain, run.after, &run.recover, &run.compare, &run.counts) != 9)
      abort();
    ++*runs;
    if (!one_run(&run, script)) {
      ++*failed;
      add_errors();
      printf("FAIL %u: %.*s: %s\n", number, (int)strcspn(line, "\n"), line, shared->said);
      fflush(stdout);
      break;
    }
  }
  while (*line != 'E')
    line = next_line(line);
  return next_line(line);
}

int main(int count, char **arguments) {
  const char *script = &gen_script ? gen_script : read_script(arguments[1]);
  const char *folder = count > 2 ? arguments[2] : "/dev/shm";
  table = &gen_table;
  if (count > 3) {
    void *library = dlopen(arguments[3], RTLD_LAZY);
    table = library ? dlsym(library, "gen_table") : NULL;
  }
  if (!table || !script) {
    fprintf(stderr, "usage: harness SCRIPT FOLDER [LIBRARY]: %s\n", dlerror());
    return 2;
  }
  snprintf(pool_path, sizeof pool_path, "%s/pool.%d", folder, getpid());
  snprintf(side_path, sizeof side_path, "%s/side.%d", folder, getpid());
  for (int i = 0; i < 3; i++)
    snprintf(fresh_path[i], sizeof fresh_path[i], "%s/fresh%d.%d", folder, i, getpid());
  errors = memfd_create("errors", MFD_CLOEXEC);
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  gen_objects = shared->objects;
  unsigned runs = 0, failed = 0;
  for (int i = 0; i < 3; i++)
    if (!in_child(i < 2 ? create_child : create_side, &(struct run){.counts = i}, NULL, false)) {
      printf("FAIL: no pool: %s\n", shared->said);
      failed++;
    }
  while (*script == 'P')
    script = one_program(script, &runs, &failed);
  unlink(pool_path);
  unlink(side_path);
  for (int i = 0; i < 3; i++)
    unlink(fresh_path[i]);
  printf("%u runs, %u failed\n", runs, failed);
  return failed ? 1 : 0;
}
