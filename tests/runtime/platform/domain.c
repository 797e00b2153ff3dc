/* domain.c: which durability domain and which method a pool gets: from its file, by the settings,
 * by the size of DRAM. What is said of it on stderr.
 *
 * PMEM2_FORCE_GRANULARITY forces the domain, too, and that is told; the linker sends the call that asks for the
 * machine's DRAM through here (CMakeLists.txt).
 */
#define _GNU_SOURCE
#include "harness.h"
#include "hooks.h"
#include "store.h"

#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 8 << 20, PAGE = 4096 };

static long dram_bytes; /* 0: what the machine has */

/* A sanitizer itself calls these, before it is ready. */
#define BEFORE_MAIN __attribute__((disable_sanitizer_instrumentation))

long __real_sysconf(int name);
long __wrap_sysconf(int name);
BEFORE_MAIN long __wrap_sysconf(int name) {
  return dram_bytes && name == _SC_PHYS_PAGES ? dram_bytes / PAGE : __real_sysconf(name);
}

/* The settings; null: not set. */
struct choice {
  const char *granularity, *domain, *method, *bound;
  long dram;                         /* bytes of the machine, 0: as it is */
  long file_system;                  /* of the files, 0: as it is */
  const char *is_domain, *is_method; /* what comes of it */
  unsigned warnings;
};

static const struct choice choices[] = {
    {.is_domain = "process", .is_method = "undo"},
    {.domain = "", .method = "", .is_domain = "process", .is_method = "undo"},
    /* On a disk, known or not; and in memory. */
    {.file_system = EXT4_SUPER_MAGIC, .is_domain = "disk", .is_method = "shadow"},
    {.file_system = NFS_SUPER_MAGIC, .is_domain = "disk", .is_method = "shadow"},
    {.file_system = RAMFS_MAGIC, .is_domain = "process", .is_method = "undo"},
    {.file_system = HUGETLBFS_MAGIC, .is_domain = "process", .is_method = "undo"},
    {.domain = "process",
     .file_system = EXT4_SUPER_MAGIC,
     .is_domain = "process",
     .is_method = "undo"},
    {.domain = "disk", .file_system = EXT4_SUPER_MAGIC, .is_domain = "disk", .is_method = "shadow"},
    {.domain = "power",
     .file_system = EXT4_SUPER_MAGIC,
     .is_domain = "power",
     .is_method = "shadow",
     .warnings = 1},
    {.method = "undo", .file_system = EXT4_SUPER_MAGIC, .is_domain = "disk", .is_method = "undo"},
    {.dram = 2 * SIZE - (1 << 20),
     .file_system = EXT4_SUPER_MAGIC,
     .is_domain = "disk",
     .is_method = "undo"},
    /* As libpmem2 is told. */
    {"PAGE", .is_domain = "process", .is_method = "undo"},
    {"CACHE_LINE", .is_domain = "power", .is_method = "shadow", .warnings = 1},
    {"BYTE", .is_domain = "power", .is_method = "shadow", .warnings = 1},
    {"cacheline", .is_domain = "power", .is_method = "shadow", .warnings = 1},
    {"LINE", .is_domain = "process", .is_method = "undo"},
    /* Overridden: the domain alone, the method alone, both. */
    {"CACHE_LINE", "process", .is_domain = "process", .is_method = "undo"},
    {"CACHE_LINE", "power", .is_domain = "power", .is_method = "shadow", .warnings = 1},
    {.domain = "power", .is_domain = "power", .is_method = "shadow", .warnings = 1},
    {"PAGE", "disk", .is_domain = "disk", .is_method = "shadow"},
    {.domain = "disk", .method = "undo", .is_domain = "disk", .is_method = "undo"},
    {"PAGE", "power", .is_domain = "power", .is_method = "shadow", .warnings = 1},
    {.method = "shadow", .is_domain = "process", .is_method = "shadow"},
    {"CACHE_LINE", NULL, "undo", .is_domain = "power", .is_method = "undo", .warnings = 1},
    {NULL, "power", "undo", .is_domain = "power", .is_method = "undo", .warnings = 1},
    {"BYTE", "process", "shadow", .is_domain = "process", .is_method = "shadow"},
    /* Twice the pool is more than the DRAM. */
    {"BYTE", .dram = 2 * SIZE - (1 << 20), .is_domain = "power", .is_method = "undo",
     .warnings = 1},
    {"BYTE", .dram = 2 * SIZE, .is_domain = "power", .is_method = "shadow", .warnings = 1},
    {"BYTE", .dram = SIZE, .bound = "1M", .is_domain = "power", .is_method = "shadow",
     .warnings = 1},
    {"BYTE", .dram = SIZE, .bound = "4M", .is_domain = "power", .is_method = "undo", .warnings = 1},
    {"BYTE", .dram = SIZE, .bound = "1G", .is_domain = "power", .is_method = "undo", .warnings = 1},
    {"BYTE", NULL, "shadow", .dram = SIZE, .is_domain = "power", .is_method = "shadow",
     .warnings = 1},
    {.dram = SIZE, .bound = "1M", .is_domain = "process", .is_method = "undo"},
};
enum { CHOICES = sizeof choices / sizeof *choices };

static void set(const char *name, const char *value) {
  if (value)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

static void choose(const struct choice *c) {
  set("PMEM2_FORCE_GRANULARITY", c->granularity);
  set("NVMOVE_DOMAIN", c->domain);
  set("NVMOVE_METHOD", c->method);
  set("NVMOVE_SHADOW_DRAM", c->bound);
  set("NVMOVE_STATS", "1");
  dram_bytes = c->dram;
  hook_file_system = c->file_system;
}

static void check_info(NVM_POOL *pool, const struct choice *c) {
  struct nvm_info info;
  CHECK(nvm_pool_info(pool, &info) == 0 && strcmp(info.method, c->is_method) == 0);
  CHECK(info.domain == (strcmp(c->is_domain, "power") == 0  ? NVM_DOMAIN_POWER
                        : strcmp(c->is_domain, "disk") == 0 ? NVM_DOMAIN_DISK
                                                            : NVM_DOMAIN_PROCESS));
}

/* Two pools, of which one is closed and opened again: nothing is said twice. */
static void use_pools(void *choice) {
  const struct choice *c = choice;
  choose(c);
  NVM_POOL *pool = test_create(test_path("pool"), SIZE), *other;
  other = test_create(test_path("other"), SIZE);
  CHECK(nvm_tx_begin(pool) == 0);
  uint64_t *word = nvm_alloc(pool, 0, sizeof *word);
  STORE(*word, 5);
  CHECK(nvm_pool_set_root(pool, word) == 0 && nvm_tx_commit(pool) == 0);
  check_info(pool, c);
  check_info(other, c);
  CHECK(nvm_pool_close(pool) == 0);
  pool = test_open(test_path("pool"));
  check_info(pool, c);
  CHECK(*(uint64_t *)nvm_pool_root(pool) == 5);
  CHECK(nvm_pool_close(pool) == 0 && nvm_pool_close(other) == 0);
}

static unsigned count_of(const char *text, const char *part) {
  unsigned count = 0;
  for (const char *at = text; (at = strstr(at, part)); at += strlen(part))
    count++;
  return count;
}

static void check_said(const char *said, const struct choice *c) {
  char line[PATH_MAX];
  CHECK(count_of(said, "the power domain is forced") == c->warnings);
  snprintf(line, sizeof line,
           "nvmove: %s: the power domain is forced on a file that is not "
           "persistent memory",
           test_path("pool"));
  CHECK(count_of(said, line) == c->warnings);
  CHECK(count_of(said, "the disk domain is chosen for a file in memory") ==
        (strcmp(c->is_domain, "disk") == 0 && !c->file_system)); /* where the tests' files are */
  snprintf(line, sizeof line, "nvmove: %s: method %s, domain %s (", test_path("pool"), c->is_method,
           c->is_domain);
  CHECK(count_of(said, line) == 2); /* closed twice */
  CHECK(count_of(said, "1 commits (0 implicit") == 1 && count_of(said, ", domain ") == 3);
}

static void check_choice(const struct choice *c) {
  char said[16384];
  int status = test_child_says(use_pools, (void *)(uintptr_t)c, said, sizeof said);
  if (status)
    fprintf(stderr, "row %zu\n%s", (size_t)(c - choices), said);
  CHECK(status == 0);
  check_said(said, c);
  unlink(test_path("pool"));
  unlink(test_path("other"));
}

TEST_ONCE(domain_and_method) {
  for (const struct choice *c = choices; c < choices + CHOICES; c++)
    check_choice(c);
}

static void use_quietly(void *unused) {
  (void)unused;
  CHECK(nvm_pool_close(test_create(test_path("pool"), SIZE)) == 0);
}

/* Without NVMOVE_STATS=1 nothing is said. */
TEST_ONCE(domain_unasked) {
  char said[4096];
  setenv("NVMOVE_STATS", "0", 1);
  CHECK(test_child_says(use_quietly, NULL, said, sizeof said) == 0 && !*said);
}
