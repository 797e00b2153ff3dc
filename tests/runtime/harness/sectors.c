/* sectors.c: see sectors.h. */
#define _GNU_SOURCE
#include "sectors.h"

#include "harness.h"
#include "hooks.h"
#include "simulation.h"
#include "sparse.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECTOR = 512, WORD = 8, PAGE = 4096, FILE_MAX = 64 << 20, PAGES = FILE_MAX / PAGE };

int sectors_failing;
void (*sectors_in_sync)(void);
unsigned sectors_delay;

static struct {
  const char *path, *image;
  uint64_t at, events, dice; /* at 0: nothing is simulated */
  unsigned stride;
  _Atomic bool waits; /* for the first sync */
} disk;

/* Outlives the processes that use it. Taken for written: a page that a sync has failed for, as long as
 * nobody stores there. */
static struct {
  char holds[FILE_MAX];
  char taken[FILE_MAX];
  bool is_taken[PAGES];
} *platter;

static uint64_t throw(void) {
  disk.dice = disk.dice * UINT64_C(6364136223846793005) + 1442695040888963407;
  return disk.dice >> 33;
}

/* What the page cache has: a mapping of its own shows it. */
static const char *bytes_of(const char *path, size_t *size) {
  int fd = open(path, O_RDONLY);
  struct stat status;
  if (fd < 0)
    return NULL;
  fstat(fd, &status);
  *size = (size_t)status.st_size;
  const char *bytes =
      *size ? mmap(NULL, *size, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0) : MAP_FAILED;
  close(fd);
  return bytes == MAP_FAILED ? NULL : bytes;
}

/* The same of disk.path: mapped until the file changes its size, or is another one. */
static const char *cached(size_t *size) {
  static const char *bytes;
  static struct stat of;
  struct stat status;
  if (stat(disk.path, &status))
    return NULL;
  if (!bytes || status.st_ino != of.st_ino || status.st_size != of.st_size) {
    if (bytes)
      munmap((void *)bytes, (size_t)of.st_size);
    size_t mapped;
    bytes = bytes_of(disk.path, &mapped);
    of = status;
    of.st_size = (off_t)mapped;
  }
  *size = (size_t)of.st_size;
  return bytes;
}

/* In part: of some words. */
static void write_sector(char *to, const char *from, size_t size, bool whole) {
  for (size_t i = 0; i < size; i += WORD)
    if (whole || throw() % 2)
      memcpy(to + i, from + i, size - i < WORD ? size - i : WORD);
}

/* The kernel does not write it again. */
static bool is_taken(const char *bytes, size_t at) {
  size_t page = at / PAGE, start = page * PAGE;
  platter->is_taken[page] =
      platter->is_taken[page] && sparse_equal(platter->taken + start, bytes + start, PAGE);
  return platter->is_taken[page];
}

/* Of a page, or what the file has of its last one. */
static void write_some_of(const char *bytes, size_t start, size_t end, bool is_last) {
  for (size_t at = start; at < end; at += SECTOR) {
    size_t part = end - at < SECTOR ? end - at : SECTOR;
    if (!sparse_equal(platter->holds + at, bytes + at, part) && !is_taken(bytes, at) &&
        throw() % 4 == 0)
      write_sector(platter->holds + at, bytes + at, part, !is_last || throw() % 8);
  }
}

/* Most pages are as the disk has them. */
static void write_some(const char *bytes, size_t size, bool is_last) {
  for (size_t at = 0; at < size; at += PAGE) {
    size_t part = size - at < PAGE ? size - at : PAGE;
    if (memcmp(platter->holds + at, bytes + at, part))
      write_some_of(bytes, at, at + part, is_last);
  }
}

static _Noreturn void end_machine(size_t size) {
  int fd = open(disk.image, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || write(fd, platter->holds, size) != (ssize_t)size)
    _exit(1);
  test_power_cut();
}

static atomic_flag busy = ATOMIC_FLAG_INIT; /* what the disk has is looked at, or changes */

static void happen(enum nvmi_step step) {
  (void)step;
  if (!disk.at || disk.waits)
    return;
  while (atomic_flag_test_and_set(&busy))
    sched_yield();
  size_t size;
  bool is_last = ++disk.events >= disk.at;
  bool writes = is_last || !disk.stride || disk.events % disk.stride == 0;
  const char *bytes = writes ? cached(&size) : NULL;
  if (bytes) {
    write_some(bytes, size, is_last);
    if (is_last)
      end_machine(size);
  }
  atomic_flag_clear(&busy);
}

/* Of whole pages: they are written, or taken for that. */
static void sync_pages(size_t offset, size_t length, bool fails) {
  if (!disk.at)
    return;
  while (atomic_flag_test_and_set(&busy))
    sched_yield();
  size_t size;
  const char *bytes = cached(&size);
  size_t end = !bytes ? 0 : offset + length < size ? offset + length : size;
  for (size_t at = offset & ~(size_t)(PAGE - 1); at < end; at += PAGE) {
    size_t part = end - at < PAGE ? end - at : PAGE;
    if (fails && !sparse_equal(platter->holds + at, bytes + at, part)) {
      platter->is_taken[at / PAGE] = true;
      memcpy(platter->taken + at, bytes + at, part);
    } else if (!fails && !is_taken(bytes, at)) {
      memcpy(platter->holds + at, bytes + at, part);
    }
  }
  disk.waits = false;
  atomic_flag_clear(&busy);
}

static void synced(void) { sync_pages(0, SIZE_MAX / 2, false); }

int __real_posix_fadvise(int fd, off_t from, off_t length, int advice);
int __wrap_posix_fadvise(int fd, off_t from, off_t length, int advice);
/* Pages are read from the disk anew. */
int __wrap_posix_fadvise(int fd, off_t from, off_t length, int advice) {
  size_t size = 0;
  const char *bytes = disk.at ? cached(&size) : NULL;
  size_t end = length && (size_t)(from + length) < size ? (size_t)(from + length) : size;
  for (size_t at = (size_t)from; bytes && at < end; at += PAGE)
    if (is_taken(bytes, at)) {
      CHECK(pwrite(fd, platter->holds + at, PAGE, (off_t)at) == PAGE);
      platter->is_taken[at / PAGE] = false;
    }
  return __real_posix_fadvise(fd, from, length, advice);
}

/* What PROCMAP_QUERY of Linux 6.11 asks and tells of a mapping; the headers of Debian 12 do not have it. */
struct mapping {
  uint64_t size, flags, address;
  uint64_t start, end, permissions, page_size, offset, inode;
  uint32_t major, minor, name_size, build_id_size;
  uint64_t name, build_id;
};

#define MAPPING_OF _IOWR('f', 17, struct mapping)

/* The same where the kernel does not know the question. A line: START-END PERMISSIONS OFFSET. */
static size_t offset_in(FILE *maps, const void *at) {
  char line[PATH_MAX + 100], *rest;
  while (fgets(line, sizeof line, maps)) {
    unsigned long start = strtoul(line, &rest, 16), end = strtoul(rest + 1, &rest, 16);
    if ((uintptr_t)at >= start && (uintptr_t)at < end)
      return strtoul(rest + strlen(" rw-s "), NULL, 16) + ((uintptr_t)at - start);
  }
  return SIZE_MAX;
}

/* Where in its file lies what is mapped there. */
static size_t offset_of(const void *at) {
  FILE *maps = fopen("/proc/self/maps", "re");
  struct mapping asked = {.size = sizeof asked, .address = (uintptr_t)at};
  bool knows = ioctl(fileno(maps), MAPPING_OF, &asked) == 0;
  size_t found = knows ? asked.offset + ((uintptr_t)at - asked.start) : offset_in(maps, at);
  fclose(maps);
  CHECK(found != SIZE_MAX);
  return found;
}

int __real_msync(void *at, size_t size, int flags);
int __wrap_msync(void *at, size_t size, int flags);
int __wrap_msync(void *at, size_t size, int flags) {
  happen(NVMI_STEP_COMMIT);
  if (sectors_in_sync)
    sectors_in_sync();
  if (sectors_delay)
    usleep(sectors_delay);
  if (sectors_failing && --sectors_failing == 0) {
    if (disk.at)
      sync_pages(offset_of(at), size, true);
    errno = EIO;
    return -1;
  }
  int result = __real_msync(at, size, flags);
  if (disk.at)
    sync_pages(offset_of(at), size, false);
  return result;
}

static void run_to_the_end(void *argument) {
  const struct sectors_end *end = argument;
  size_t size;
  disk.path = end->path;
  disk.image = end->image;
  disk.dice = end->seed;
  disk.stride = end->stride;
  disk.at = end->at;
  const char *bytes = bytes_of(end->durable ? end->durable : end->path, &size);
  if (!end->goes_on) {
    madvise(platter->holds, size, MADV_POPULATE_WRITE);
    memcpy(platter->holds, bytes, size);
    memset(platter->is_taken, 0, sizeof platter->is_taken);
  }
  disk.waits = end->from_sync;
  hook_steps(happen);
  hook_synced = synced;
  end->run(end->argument);
}

void sectors_write_image(void) {
  size_t size;
  const char *bytes = cached(&size);
  int fd = open(disk.image, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(bytes && fd >= 0 && write(fd, platter->holds, size) == (ssize_t)size);
  close(fd);
}

int sectors_run(const struct sectors_end *end, const char *start) {
  if (!platter)
    platter = mmap(NULL, sizeof *platter, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(platter != MAP_FAILED);
  hook_sparse = true;
  if (!end->goes_on)
    sparse_copy(start, end->path);
  return test_child(NULL, run_to_the_end, (void *)(uintptr_t)end);
}

bool sectors_end_machine(const struct sectors_end *end, const char *start) {
  int status = sectors_run(end, start);
  CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == POWER_CUT));
  return WEXITSTATUS(status) == POWER_CUT;
}
