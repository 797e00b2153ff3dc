/* bench.c: libnvmove beside libpmemobj, interleaved, as ratios of CPU time (bench/README.md).
 *
 * usage: nvmove-runtime-bench [--rounds N] [--folder DIR] [--json FILE]
 * [writes|threads|alloc|reopen|moving|sweeping|counting]... Every measurement is a process of its
 * own; the systems take turns within a round, so a neighbour's noise meets all of them. Printed:
 * median CPU nanoseconds for one operation and what libpmemobj takes over ours.
 */
#define _GNU_SOURCE
#include "bench.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS_MAX = 31, SYSTEMS_MAX = 5, THREADS_MAX = 8 };

static struct timespec cpu_start, wall_start;
static const char *folder = "/dev/shm";
static int rounds = 5;
static FILE *json; /* raw numbers: one object a line */

static double ns_since(clockid_t clock, const struct timespec *start) {
  struct timespec now;
  clock_gettime(clock, &now);
  return 1e9 * (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec);
}

void bench_start(void) {
  clock_gettime(CLOCK_MONOTONIC, &wall_start);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu_start);
}

void bench_stop(struct measure *result, uint64_t operations) {
  result->cpu_ns = ns_since(CLOCK_PROCESS_CPUTIME_ID, &cpu_start) / (double)operations;
  result->wall_ns = ns_since(CLOCK_MONOTONIC, &wall_start) / (double)operations;
}

uint64_t bench_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

struct worker {
  pthread_t thread;
  void (*work)(void *, unsigned);
  void *argument;
  unsigned number;
};

static void *run_worker(void *argument) {
  struct worker *worker = argument;
  worker->work(worker->argument, worker->number);
  return NULL;
}

void bench_threads(unsigned threads, void (*work)(void *, unsigned), void *argument) {
  struct worker workers[THREADS_MAX];
  for (unsigned i = 0; i < threads; i++) {
    workers[i] = (struct worker){.work = work, .argument = argument, .number = i};
    if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]))
      abort();
  }
  for (unsigned i = 0; i < threads; i++)
    pthread_join(workers[i].thread, NULL);
}

struct system {
  const char *name, *method;
  void (*run)(const char *, const struct workload *, struct measure *);
};

static struct measure measure(const struct system *s, const struct workload *w) {
  static struct measure *shared;
  if (!shared)
    shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  char path[4096];
  snprintf(path, sizeof path, "%s/nvmove-bench.%ld", folder, (long)getpid());
  memset(shared, 0, sizeof *shared);
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    setenv("PMEM_IS_PMEM_FORCE", "1", 1);
    setenv("NVMOVE_DOMAIN", "power", 1);
    setenv("NVMOVE_METHOD", s->method, 1);
    if (!freopen("/dev/null", "w", stderr)) /* the warning that power is forced */
      _exit(1);
    s->run(path, w, shared);
    _exit(0);
  }
  int status;
  waitpid(child, &status, 0);
  unlink(path);
  if (status) {
    printf("%s: %s %zu ended with status %#x\n", s->name, w->name, w->parameter, status);
    exit(1);
  }
  return *shared;
}

static int by_cpu(const void *a, const void *b) {
  double x = ((const struct measure *)a)->cpu_ns, y = ((const struct measure *)b)->cpu_ns;
  return x < y ? -1 : x > y;
}

static void compare(const struct system *systems, size_t count, const struct workload *w) {
  struct measure all[SYSTEMS_MAX][ROUNDS_MAX];
  for (int round = 0; round < rounds; round++)
    for (size_t i = 0; i < count; i++)
      all[i][round] = measure(&systems[i], w);
  printf("%-8s %5zu", w->name, w->parameter);
  double base = 0;
  for (size_t i = 0; i < count; i++) {
    for (int round = 0; json && round < rounds; round++)
      fprintf(json,
              "{\"workload\": \"%s\", \"parameter\": %zu, \"system\": \"%s\", \"cpu_ns\": %.1f, "
              "\"wall_ns\": %.1f}\n",
              w->name, w->parameter, systems[i].name, all[i][round].cpu_ns, all[i][round].wall_ns);
    qsort(all[i], (size_t)rounds, sizeof **all, by_cpu);
    double median = all[i][rounds / 2].cpu_ns;
    if (i == 0)
      base = median;
    printf("   %s %.0f (%.0f)", systems[i].name, median, all[i][0].cpu_ns);
    if (i > 0)
      printf(" x%.2f", base / median);
  }
  printf("\n");
  fflush(stdout);
}

static void run_writes(void) {
  static const struct system systems[] = {{"libpmemobj", "", peer_writes},
                                          {"undo", "undo", ours_writes},
                                          {"shadow", "shadow", ours_writes},
                                          {"undo's floor", "", floor_undo},
                                          {"redo's floor", "", floor_redo}};
  static const size_t widths[] = {1, 4, 16, 64, 256};
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
    struct workload w = {"writes", widths[i], 2000000 / (widths[i] + 3), 0};
    compare(systems, sizeof systems / sizeof *systems, &w);
  }
}

/* Each thread in words of its own: what is measured is what the library shares. */
static void run_threads(void) {
  static const struct system systems[] = {{"libpmemobj", "", peer_threads},
                                          {"undo", "undo", ours_threads},
                                          {"shadow", "shadow", ours_threads}};
  for (size_t width = 1; width <= 256; width *= 16)
    for (unsigned threads = 1; threads <= THREADS_MAX; threads *= threads == 1 ? 2 : 4) {
      char name[32];
      snprintf(name, sizeof name, "%u thr.", threads);
      struct workload w = {name, width, 1000000 / (width + 3), threads};
      compare(systems, sizeof systems / sizeof *systems, &w);
    }
}

static void run_alloc(void) {
  static const struct system systems[] = {{"libpmemobj", "", peer_alloc},
                                          {"undo", "undo", ours_alloc},
                                          {"shadow", "shadow", ours_alloc}};
  for (size_t size = 1024; size <= 4096; size *= 2) {
    struct workload w = {"alloc", size, 1000000, 0};
    compare(systems, 3, &w);
  }
}

/* Of a pool whose process was killed. */
static void run_reopen(void) {
  static const struct system systems[] = {{"libpmemobj", "", peer_reopen},
                                          {"undo", "undo", ours_reopen},
                                          {"shadow", "shadow", ours_reopen}};
  static const struct workload w = {"reopen", 960, 4190000, 0};
  for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
    struct measure m = measure(&systems[i], &w);
    if (json)
      fprintf(json,
              "{\"workload\": \"reopen\", \"system\": \"%s\", \"open_ns\": %.0f, "
              "\"first_read_ns\": %.0f, \"first_allocation_ns\": %.0f, \"rebuild_ns\": %.0f}\n",
              systems[i].name, m.extra[0], m.extra[1], m.extra[2], m.extra[3]);
    printf("reopen   4 GB %s: open %.1f ms, first read %.2f ms, first allocation %.1f ms",
           systems[i].name, m.extra[0] / 1e6, m.extra[1] / 1e6, m.extra[2] / 1e6);
    if (m.extra[3] > 0)
      printf(", all tables of the heap %.0f ms", m.extra[3] / 1e6);
    printf("\n");
  }
}

/* Breeze's Table V, seconds: same address and another, 4 and 8 GB, 1 and 2 threads. */
static void run_moving(void) {
  static const struct {
    uint64_t objects;
    size_t span;
    double same[2], moved[2];
  } pools[] = {{UINT64_C(4) << 20, (size_t)32 << 30, {0.62, 0.31}, {18.95, 10.58}},
               {UINT64_C(8) << 20, (size_t)64 << 30, {0.86, 0.59}, {21.25, 21.08}}};
  for (size_t i = 0; i < 2; i++) {
    double one = 0;
    for (unsigned threads = 1; threads <= 2; threads++) {
      struct system s = {"shadow", "shadow", ours_moving};
      struct workload w = {"moving", pools[i].span, pools[i].objects, threads};
      struct measure m = measure(&s, &w);
      one = threads == 1 ? m.extra[1] : one;
      if (json)
        fprintf(json,
                "{\"workload\": \"moving\", \"objects\": %llu, \"threads\": %u, \"same_s\": %.4f, "
                "\"moved_s\": %.3f, \"floor_s\": %.3f}\n",
                (unsigned long long)w.operations, threads, m.extra[0], m.extra[1], m.extra[2]);
      printf("moving   %llu GB %u thr.: same address %.1f ms (paper %.2f s), another %.2f s (paper "
             "%.2f s), %.2f of its floor%s",
             (unsigned long long)w.operations >> 20, threads, 1e3 * m.extra[0],
             pools[i].same[threads - 1], m.extra[1], pools[i].moved[threads - 1],
             m.extra[1] / m.extra[2], threads == 1 ? "\n" : "");
      if (threads == 2)
        printf(", %.2f times as fast as one\n", one / m.extra[1]);
    }
  }
}

static void run_sweeping(void) {
  for (unsigned threads = 1; threads <= 2; threads++) {
    struct system s = {"undo", "undo", ours_sweeping};
    struct workload w = {"sweeping", 64, 8000000, threads};
    struct measure m = measure(&s, &w);
    if (json)
      fprintf(json,
              "{\"workload\": \"sweeping\", \"threads\": %u, \"freeing_per_s\": %.0f, "
              "\"reaching_per_s\": %.0f, \"pause_s\": %.3f}\n",
              threads, m.extra[0], m.extra[1], m.extra[2]);
    printf(
        "sweeping %u thr.: %.2f million objects a second and core, a quarter of them freed (goal "
        "3), %.2f with nothing to free; a pause of %.2f s\n",
        threads, m.extra[0] / 1e6, m.extra[1] / 1e6, m.extra[2]);
  }
}

/* A pointer that is stored, in a pool that counts references and in one that does not. */
static void run_counting(void) {
  static const struct system systems[] = {{"undo", "undo", ours_linking},
                                          {"undo, counted", "undo", ours_counting},
                                          {"shadow", "shadow", ours_linking},
                                          {"shadow, counted", "shadow", ours_counting}};
  for (size_t width = 1; width <= 64; width *= 8) {
    struct workload w = {"counting", width, 4000000 / width, 0};
    compare(systems, 2, &w);
    compare(systems + 2, 2, &w);
  }
}

static const struct part {
  const char *name;
  void (*run)(void);
} parts[] = {{"writes", run_writes},    {"threads", run_threads}, {"alloc", run_alloc},
             {"reopen", run_reopen},    {"moving", run_moving},   {"sweeping", run_sweeping},
             {"counting", run_counting}};
enum { PARTS = sizeof parts / sizeof *parts };

static const struct part *part_named(const char *name) {
  for (size_t p = 0; p < PARTS; p++)
    if (strcmp(name, parts[p].name) == 0)
      return &parts[p];
  return NULL;
}

static int usage(FILE *to, int status) {
  fprintf(to, "usage: nvmove-runtime-bench [--rounds N] [--json FILE] [--folder DIR] [PART]...\n"
              "parts, all of them without:");
  for (size_t p = 0; p < PARTS; p++)
    fprintf(to, " %s", parts[p].name);
  fprintf(to, "\n");
  return status;
}

int main(int argc, char **argv) {
  bool chosen[PARTS] = {false}, any = false;
  for (int i = 1; i < argc; i++) {
    const struct part *part = part_named(argv[i]);
    if (strcmp(argv[i], "--help") == 0)
      return usage(stdout, 0);
    if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc) {
      rounds = atoi(argv[++i]);
    } else if (strcmp(argv[i], "--json") == 0 && i + 1 < argc) {
      json = fopen(argv[++i], "w");
      if (!json) {
        perror(argv[i]);
        return 1;
      }
    } else if (strcmp(argv[i], "--folder") == 0 && i + 1 < argc) {
      folder = argv[++i];
    } else if (part) {
      chosen[part - parts] = any = true;
    } else {
      fprintf(stderr, "nvmove-runtime-bench: %s is neither a part nor an option\n", argv[i]);
      return usage(stderr, 2);
    }
  }
  rounds = rounds < 1 ? 1 : rounds > ROUNDS_MAX ? ROUNDS_MAX : rounds;
  for (size_t p = 0; p < PARTS; p++)
    if (chosen[p] || !any)
      parts[p].run();
  return json && fclose(json) ? 1 : 0;
}
