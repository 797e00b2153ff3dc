/* sectors.c: see sectors.h. */
#define _GNU_SOURCE
#include "sectors.h"

#include "harness.h"
#include "hooks.h"
#include "simulation.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECTOR = 512, WORD = 8, FILE_MAX = 64 << 20 };

int sectors_failing;
void (*sectors_in_sync)(void);
unsigned sectors_delay;

static struct {
  const char *path, *image;
  uint64_t at, events, dice; /* at 0: nothing is simulated */
  char *holds;               /* what the disk has */
  unsigned stride;
  _Atomic bool waits; /* for the first sync */
} disk;

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
  const char *bytes = *size ? mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
  close(fd);
  return bytes == MAP_FAILED ? NULL : bytes;
}

static const char *cached(size_t *size) { return bytes_of(disk.path, size); }

/* In part: of some words. */
static void write_sector(char *to, const char *from, size_t size, bool whole) {
  for (size_t i = 0; i < size; i += WORD)
    if (whole || throw() % 2)
      memcpy(to + i, from + i, size - i < WORD ? size - i : WORD);
}

static void write_some(const char *bytes, size_t size, bool is_last) {
  for (size_t at = 0; at < size; at += SECTOR) {
    size_t part = size - at < SECTOR ? size - at : SECTOR;
    if (memcmp(disk.holds + at, bytes + at, part) != 0 && throw() % 4 == 0)
      write_sector(disk.holds + at, bytes + at, part, !is_last || throw() % 8);
  }
}

static _Noreturn void end_machine(size_t size) {
  int fd = open(disk.image, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || write(fd, disk.holds, size) != (ssize_t)size)
    _exit(1);
  _exit(POWER_CUT);
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
    munmap((void *)bytes, size);
  }
  atomic_flag_clear(&busy);
}

static void synced_bytes(size_t offset, size_t length) {
  if (!disk.at)
    return;
  while (atomic_flag_test_and_set(&busy))
    sched_yield();
  size_t size;
  const char *bytes = cached(&size);
  size_t end = !bytes ? 0 : offset + length < size ? offset + length : size;
  if (offset < end)
    memcpy(disk.holds + offset, bytes + offset, end - offset);
  if (bytes)
    munmap((void *)bytes, size);
  disk.waits = false;
  atomic_flag_clear(&busy);
}

static void synced(void) { synced_bytes(0, SIZE_MAX / 2); }

/* Where in its file lies what is mapped there. */
static size_t offset_of(const void *at) {
  FILE *maps = fopen("/proc/self/maps", "re");
  char line[PATH_MAX + 100];
  unsigned long start, end, offset, found = SIZE_MAX;
  while (fgets(line, sizeof line, maps))
    if (sscanf(line, "%lx-%lx %*s %lx", &start, &end, &offset) == 3 && (uintptr_t)at >= start &&
        (uintptr_t)at < end)
      found = offset + ((uintptr_t)at - start);
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
    errno = EIO;
    return -1;
  }
  int result = __real_msync(at, size, flags);
  if (disk.at)
    synced_bytes(offset_of(at), size);
  return result;
}

static void run_to_the_end(void *argument) {
  const struct sectors_end *end = argument;
  size_t size;
  disk.path = end->path;
  disk.image = end->image;
  disk.dice = end->seed;
  disk.stride = end->stride;
  disk.holds = mmap(NULL, FILE_MAX, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  disk.at = end->at;
  const char *bytes = bytes_of(end->durable ? end->durable : end->path, &size);
  memcpy(disk.holds, bytes, size);
  disk.waits = end->from_sync;
  hook_steps(happen);
  hook_synced = synced;
  end->run(end->argument);
}

void sectors_write_image(void) {
  size_t size;
  const char *bytes = cached(&size);
  int fd = open(disk.image, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  CHECK(bytes && fd >= 0 && write(fd, disk.holds, size) == (ssize_t)size);
  close(fd);
}

bool sectors_end_machine(const struct sectors_end *end, const char *start) {
  power_copy(start, end->path);
  int status = test_child(NULL, run_to_the_end, (void *)(uintptr_t)end);
  CHECK(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == POWER_CUT));
  return WEXITSTATUS(status) == POWER_CUT;
}
